cairn_test(engine_golden_test
  ${CMAKE_CURRENT_LIST_DIR}/engine_golden_test.cpp ${CMAKE_CURRENT_LIST_DIR}/engine_dump.cpp
  LINK cairn_engine_support LABELS golden)
