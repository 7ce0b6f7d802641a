cairn_test(os_test
  ${CMAKE_CURRENT_LIST_DIR}/os_disk_test.cpp ${CMAKE_CURRENT_LIST_DIR}/os_lock_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/os_socket_test.cpp ${CMAKE_CURRENT_LIST_DIR}/os_process_test.cpp ${CMAKE_CURRENT_LIST_DIR}/os_crash_test.cpp
  LINK cairn_os cairn_test_process LABELS unit)
