cairn_test(inbox_fault_test ${CMAKE_CURRENT_LIST_DIR}/inbox_fault_test.cpp LINK cairn_engine_support LABELS fault)
cairn_test(engine_fault_test
  ${CMAKE_CURRENT_LIST_DIR}/engine_crash_test.cpp ${CMAKE_CURRENT_LIST_DIR}/engine_disk_error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/engine_bad_files_test.cpp ${CMAKE_CURRENT_LIST_DIR}/engine_damage_test.cpp
  LINK cairn_engine_support LABELS fault)
cairn_test(archive_fault_test ${CMAKE_CURRENT_LIST_DIR}/archive_fault_test.cpp LINK cairn_engine_support LABELS fault TIMEOUT 120)
