# Death, damage, load and long runs of the real programs. With CAIRN_FULL=1 the big figures.
cairn_library(cairn_test_traced ${CMAKE_SOURCE_DIR}/tests/support/traced.cpp LINK cairn_test_process)
cairn_test(proof_system_test
  ${CMAKE_CURRENT_LIST_DIR}/kill_test.cpp ${CMAKE_CURRENT_LIST_DIR}/recover_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/long_test.cpp
  LINK cairn_hook_lib cairn_test_traced LABELS system slow TIMEOUT 3600)
add_dependencies(proof_system_test cairn cairn-hook)
cairn_test(archive_size_test ${CMAKE_CURRENT_LIST_DIR}/archive_size_test.cpp LINK cairn_engine_support LABELS system TIMEOUT 300)
