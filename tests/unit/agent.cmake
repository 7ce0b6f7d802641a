# The memory agent's side of the engine, with a scripted provider.
cairn_test(agent_test ${CMAKE_CURRENT_LIST_DIR}/agent_worker_test.cpp ${CMAKE_CURRENT_LIST_DIR}/agent_limits_test.cpp LINK cairn_engine_support LABELS unit)
