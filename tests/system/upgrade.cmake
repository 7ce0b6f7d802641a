# A home of version 0.1 under the programs of today.
if(TARGET cairn)
  cairn_test(upgrade_system_test ${CMAKE_CURRENT_LIST_DIR}/upgrade_test.cpp LINK cairn_hook_lib cairn_test_process LABELS system
    TIMEOUT 120)
  add_dependencies(upgrade_system_test cairn cairn-hook)
endif()
