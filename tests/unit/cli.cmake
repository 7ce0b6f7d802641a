# The command line without its daemon: parsing, help, rendering.
if(TARGET cairn_cli)
  cairn_test(cli_test ${CMAKE_CURRENT_LIST_DIR}/cli_command_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_render_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cli_docs_test.cpp ${CMAKE_CURRENT_LIST_DIR}/layers_test.cpp LINK cairn_cli cairn_test_process LABELS unit)
  cairn_test(ops_arguments_test ${CMAKE_CURRENT_LIST_DIR}/ops_arguments_test.cpp LINK cairn_cli cairn_engine_support LABELS unit)
endif()
