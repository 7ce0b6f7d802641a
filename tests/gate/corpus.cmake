# Samples of secrets, and of text that must stay.
cairn_library(cairn_gate_corpus
  ${CMAKE_CURRENT_LIST_DIR}/corpus.cpp ${CMAKE_CURRENT_LIST_DIR}/secret_corpus.cpp ${CMAKE_CURRENT_LIST_DIR}/benign_corpus.cpp
  LINK cairn_gate)
target_include_directories(cairn_gate_corpus PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(cairn_gate_corpus PRIVATE CAIRN_TESTS_DIR="${CMAKE_SOURCE_DIR}/tests")
