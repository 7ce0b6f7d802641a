cairn_test(engine_golden_test
  ${CMAKE_CURRENT_LIST_DIR}/engine_golden_test.cpp ${CMAKE_CURRENT_LIST_DIR}/examples_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/engine_dump.cpp
  LINK cairn_engine_support LABELS golden)

# The context is judged by the questions of bench/context.
cairn_test(context_rubric_test
  ${CMAKE_CURRENT_LIST_DIR}/context_rubric_test.cpp ${CMAKE_SOURCE_DIR}/bench/context/rubric.cpp
  LINK cairn_engine_support LABELS golden)
target_include_directories(context_rubric_test PRIVATE ${CMAKE_SOURCE_DIR}/bench/context)
target_compile_definitions(context_rubric_test PRIVATE CAIRN_RUBRIC="${CMAKE_SOURCE_DIR}/bench/context/rubric.json")
