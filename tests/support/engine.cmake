# What tests of the whole engine share: a machine in memory, and a host's payloads.
cairn_library(cairn_engine_support
  ${CMAKE_CURRENT_LIST_DIR}/engine_fixture.cpp ${CMAKE_CURRENT_LIST_DIR}/events.cpp ${CMAKE_CURRENT_LIST_DIR}/agents.cpp ${CMAKE_CURRENT_LIST_DIR}/scripted_provider.cpp
  LINK cairn_daemon cairn_test_support cairn_test_process)
target_compile_definitions(cairn_engine_support PRIVATE CAIRN_RECORDED_DIR="${CMAKE_SOURCE_DIR}/tests/recorded")
