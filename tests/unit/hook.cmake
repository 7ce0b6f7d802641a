find_library(rapidcheck_lib rapidcheck REQUIRED)
cairn_test(hook_unit_test
  ${CMAKE_CURRENT_LIST_DIR}/hook_envelope_test.cpp ${CMAKE_CURRENT_LIST_DIR}/hook_inbox_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/hook_settings_test.cpp ${CMAKE_CURRENT_LIST_DIR}/hook_start_test.cpp
  LINK cairn_hook_lib cairn_test_support cairn_test_process ${rapidcheck_lib} LABELS unit)
