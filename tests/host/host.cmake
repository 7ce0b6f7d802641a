# The real Claude Code against a scripted model. Not in sanitizer builds: the deadlines here are those of the product.
if(NOT CAIRN_SANITIZE)
  set(host_dir ${CMAKE_SOURCE_DIR}/tests/host)
  cairn_test_program(real_host_test
    ${host_dir}/claude.cpp ${host_dir}/backlog.cpp ${host_dir}/harness_test.cpp
    ${host_dir}/cycle_test.cpp ${host_dir}/sessions_test.cpp ${host_dir}/resilience_test.cpp ${host_dir}/recovery_test.cpp ${host_dir}/plugin_test.cpp
    ${host_dir}/privacy_test.cpp ${host_dir}/open_test.cpp ${host_dir}/identity_test.cpp ${host_dir}/backup_test.cpp
    ${host_dir}/documents_test.cpp ${host_dir}/mcp_test.cpp ${host_dir}/memory_agent_test.cpp
    LINK cairn_gate_corpus cairn_test_process cairn_daemon)
  target_compile_definitions(real_host_test PRIVATE
    CAIRN_CLAUDE="${CMAKE_SOURCE_DIR}/.cache/claude-code/node_modules/.bin/claude")
  if(TARGET cairn)
    add_dependencies(real_host_test cairn cairn-hook)
  endif()
  # One at a time: two hosts starting at once on two cores would measure each other.
  gtest_discover_tests(real_host_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 LABELS host RESOURCE_LOCK host)
endif()

# The other coding agents against a scripted model: two sessions each, three agents in one repository; with CAIRN_FULL=1 the
# rest of the matrix. Skipped where scripts/fetch_agents has not installed them.
if(TARGET cairn AND NOT CAIRN_SANITIZE)
  function(cairn_agent_story story)
    string(REPLACE ";" "_" name "agent_${story};${ARGN}")
    add_test(NAME ${name} COMMAND node ${CMAKE_SOURCE_DIR}/tests/host/agents.mjs
      ${CMAKE_BINARY_DIR}/bin ${CMAKE_SOURCE_DIR}/.cache/agents ${story} ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS host TIMEOUT 180 SKIP_RETURN_CODE 77 RESOURCE_LOCK host)
  endfunction()
  foreach(agent codex gemini opencode qwen copilot)
    cairn_agent_story(cycle ${agent})
    cairn_agent_story(matrix ${agent})
  endforeach()
  cairn_agent_story(together)
endif()

# What the real claude-mem of npm stored, imported. Skipped where scripts/fetch_claude_mem has not installed it.
if(TARGET cairn AND NOT CAIRN_SANITIZE)
  add_test(NAME claude_mem_import COMMAND node ${CMAKE_SOURCE_DIR}/tests/host/claude_mem.mjs
    ${CMAKE_BINARY_DIR}/bin ${CMAKE_SOURCE_DIR}/.cache/claude-mem)
  set_tests_properties(claude_mem_import PROPERTIES LABELS host TIMEOUT 180 SKIP_RETURN_CODE 77 RESOURCE_LOCK host)
endif()
