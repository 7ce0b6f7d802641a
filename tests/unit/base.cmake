cairn_test(base_text_test ${CMAKE_CURRENT_LIST_DIR}/base_text_test.cpp ${CMAKE_CURRENT_LIST_DIR}/base_origin_test.cpp LINK cairn_host LABELS unit)
cairn_test(base_json_test ${CMAKE_CURRENT_LIST_DIR}/base_json_test.cpp LINK cairn_base LABELS unit)
