# What tests share: the simulated disk and clock.
cairn_library(cairn_test_support
  ${CMAKE_CURRENT_LIST_DIR}/sim_disk.cpp ${CMAKE_CURRENT_LIST_DIR}/sim_vfs.cpp
  LINK cairn_os cairn_sqlite)
# gcc warns of members with private types unless the class is in the source that is compiled.
set_target_properties(cairn_test_support PROPERTIES UNITY_BUILD OFF)
target_include_directories(cairn_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
