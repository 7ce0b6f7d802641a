set(d ${CMAKE_CURRENT_LIST_DIR})
cairn_test(store_test ${d}/store_ids_test.cpp ${d}/store_queue_test.cpp ${d}/store_summaries_test.cpp ${d}/store_observations_test.cpp ${d}/store_retention_test.cpp ${d}/store_projects_test.cpp
  LINK cairn_engine_support LABELS unit)
cairn_test(intake_test
  ${d}/intake_turns_test.cpp ${d}/intake_events_test.cpp ${d}/intake_sweep_test.cpp ${d}/intake_host_event_test.cpp
  ${d}/intake_place_test.cpp ${d}/git_changes_test.cpp ${d}/git_history_test.cpp ${d}/project_identity_test.cpp ${d}/intake_local_rules_test.cpp
  LINK cairn_engine_support LABELS unit)
cairn_test(context_test ${d}/context_composer_test.cpp ${d}/context_answer_test.cpp ${d}/context_cost_test.cpp ${d}/context_injection_test.cpp
  LINK cairn_engine_support LABELS unit)
cairn_test(ops_test ${d}/ops_test.cpp LINK cairn_engine_support LABELS unit)
cairn_test(engine_test ${d}/engine_test.cpp ${d}/daemon_control_test.cpp LINK cairn_engine_support LABELS unit threads)
cairn_test(gate_ways_test ${d}/gate_ways_test.cpp ${CMAKE_SOURCE_DIR}/tests/gate/secret_corpus.cpp LINK cairn_engine_support LABELS unit)
cairn_test(open_items_test ${d}/intake_open_items_test.cpp LINK cairn_engine_support LABELS unit)
