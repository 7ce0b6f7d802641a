cairn_test(base_log_test ${CMAKE_CURRENT_LIST_DIR}/base_log_test.cpp LINK cairn_base cairn_test_process LABELS unit threads)
