# The command line as users and scripts meet it: the real programs in homes of their own.
if(TARGET cairn)
  cairn_test(cli_system_test ${CMAKE_CURRENT_LIST_DIR}/cli_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_install_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cli_search_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_shells_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_hostile_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plugin_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_projects_test.cpp
    LINK cairn_cli cairn_test_process LABELS system TIMEOUT 120)
  add_dependencies(cli_system_test cairn cairn-hook)
  if(CAIRN_SANITIZE)
    target_compile_definitions(cli_system_test PRIVATE CAIRN_SANITIZED=1)
  endif()
endif()
# Every command of README and guide, in order, in a fresh home.
add_test(NAME newcomer_walk COMMAND ${CMAKE_SOURCE_DIR}/scripts/newcomer_walk ${CMAKE_BINARY_DIR}/bin)
set_tests_properties(newcomer_walk PROPERTIES LABELS system TIMEOUT 120)
