# The second source: reading transcripts, and taking in what hooks did not tell.
cairn_test(transcript_test ${CMAKE_CURRENT_LIST_DIR}/transcript_reader_test.cpp ${CMAKE_CURRENT_LIST_DIR}/catch_up_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/catch_up_lost_test.cpp ${CMAKE_CURRENT_LIST_DIR}/import_transcripts_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/catch_up_recorded_test.cpp ${CMAKE_CURRENT_LIST_DIR}/../fault/catch_up_disk_test.cpp LINK cairn_engine_support LABELS unit)
