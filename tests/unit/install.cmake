# Registering hooks with a host: the planner, the JSON editor, the diff.
find_library(rapidcheck_lib rapidcheck REQUIRED)
cairn_test(install_test
  ${CMAKE_CURRENT_LIST_DIR}/install_test.cpp ${CMAKE_CURRENT_LIST_DIR}/install_json_edit_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/install_property_test.cpp
  LINK cairn_cli cairn_test_process ${rapidcheck_lib} LABELS unit)
