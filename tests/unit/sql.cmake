cairn_test(sql_test
  ${CMAKE_CURRENT_LIST_DIR}/sql_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sql_migrate_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sql_compress_test.cpp
  LINK cairn_store cairn_test_process LABELS unit)
