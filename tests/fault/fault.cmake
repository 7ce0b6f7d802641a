# Crashes at every step, disks that fail, damaged files.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.cpp)
cairn_test(fault_test ${sources} LINK cairn_engine_support LABELS fault TIMEOUT 600)
