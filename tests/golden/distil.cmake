cairn_test(distil_golden_test ${CMAKE_CURRENT_LIST_DIR}/distil_golden_test.cpp LINK cairn_distil LABELS golden)
