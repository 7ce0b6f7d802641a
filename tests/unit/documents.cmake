# Documents: saving, resuming, coalescing, chains.
set(d ${CMAKE_CURRENT_LIST_DIR})
cairn_test(documents_test ${d}/store_documents_test.cpp
  LINK cairn_engine_support LABELS unit)
