# Backups of transcripts.
cairn_test(archive_test ${CMAKE_CURRENT_LIST_DIR}/archive_test.cpp ${CMAKE_CURRENT_LIST_DIR}/archive_delta_test.cpp
  LINK cairn_engine_support LABELS unit)
