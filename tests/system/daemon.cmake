cairn_test(cycle_system_test ${CMAKE_CURRENT_LIST_DIR}/cycle_test.cpp ${CMAKE_CURRENT_LIST_DIR}/security_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/owner_test.cpp ${CMAKE_CURRENT_LIST_DIR}/full_disk_test.cpp ${CMAKE_CURRENT_LIST_DIR}/backup_test.cpp ${CMAKE_CURRENT_LIST_DIR}/import_test.cpp
  LINK cairn_hook_lib cairn_test_process LABELS system TIMEOUT 120)
add_dependencies(cycle_system_test cairn cairn-hook)
cairn_test(daemon_system_test ${CMAKE_CURRENT_LIST_DIR}/daemon_test.cpp
  LINK cairn_hook_lib cairn_test_process LABELS system threads TIMEOUT 120)
add_dependencies(daemon_system_test cairn cairn-hook)
