# A provider as a child process of the real daemon.
add_executable(scripted_agent ${CMAKE_CURRENT_LIST_DIR}/scripted_agent.cpp)
target_link_libraries(scripted_agent PRIVATE cairn_daemon)
cairn_test(agent_system_test ${CMAKE_CURRENT_LIST_DIR}/agent_test.cpp ${CMAKE_CURRENT_LIST_DIR}/agent_command_test.cpp
  LINK cairn_hook_lib cairn_test_process LABELS system threads TIMEOUT 120)
add_dependencies(agent_system_test cairn cairn-hook scripted_agent)
# For judging prompts by hand; no test.
add_executable(file_agent EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/file_agent.cpp)
target_link_libraries(file_agent PRIVATE cairn_daemon)
