# What whole sessions become, word for word; and the context, judged by the questions of bench/context.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
cairn_test(golden_test ${sources} ${CMAKE_SOURCE_DIR}/bench/context/rubric.cpp LINK cairn_engine_support LABELS golden TIMEOUT 120)
target_include_directories(golden_test PRIVATE ${CMAKE_SOURCE_DIR}/bench/context)
target_compile_definitions(golden_test PRIVATE CAIRN_RUBRIC="${CMAKE_SOURCE_DIR}/bench/context/rubric.json")
