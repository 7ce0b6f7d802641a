# `cairn mcp` as its clients meet it: raw, and with the official SDK that scripts/fetch_mcp_sdk installs.
if(TARGET cairn)
  cairn_test(mcp_system_test ${CMAKE_CURRENT_LIST_DIR}/mcp_test.cpp LINK cairn_cli cairn_test_process LABELS system TIMEOUT 120)
  target_compile_definitions(mcp_system_test PRIVATE
    CAIRN_MCP_SDK="${CMAKE_SOURCE_DIR}/.cache/mcp-sdk" CAIRN_MCP_CLIENT="${CMAKE_CURRENT_LIST_DIR}/mcp_client.mjs")
  add_dependencies(mcp_system_test cairn cairn-hook)
  if(CAIRN_SANITIZE)
    target_compile_definitions(mcp_system_test PRIVATE CAIRN_SANITIZED=1)
  endif()
endif()
