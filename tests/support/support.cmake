# What tests share: the simulated disk and clock.
cairn_library(cairn_test_support
  ${CMAKE_CURRENT_LIST_DIR}/sim_disk.cpp ${CMAKE_CURRENT_LIST_DIR}/sim_vfs.cpp
  LINK cairn_os cairn_sqlite)
target_include_directories(cairn_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
