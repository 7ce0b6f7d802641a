cairn_test(hook_system_test
  ${CMAKE_CURRENT_LIST_DIR}/hook_test.cpp ${CMAKE_CURRENT_LIST_DIR}/hook_answer_test.cpp
  LINK cairn_hook_lib cairn_test_process LABELS system TIMEOUT 120)
add_dependencies(hook_system_test cairn-hook)
