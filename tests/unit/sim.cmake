cairn_test(sim_test
  ${CMAKE_CURRENT_LIST_DIR}/sim_disk_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sim_vfs_test.cpp
  LINK cairn_store cairn_test_support LABELS unit)
