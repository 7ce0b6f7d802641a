# Finding what is remembered: terms, queries, search, timeline; and the operations on records.
set(d ${CMAKE_CURRENT_LIST_DIR})
cairn_test(recall_test ${d}/recall_terms_test.cpp ${d}/recall_search_test.cpp ${d}/ops_memory_test.cpp
  LINK cairn_engine_support LABELS unit)
