cairn_test(distil_shell_test ${CMAKE_CURRENT_LIST_DIR}/distil_shell_test.cpp LINK cairn_distil LABELS unit)
cairn_test(distil_summary_test
  ${CMAKE_CURRENT_LIST_DIR}/distil_summary_test.cpp ${CMAKE_CURRENT_LIST_DIR}/distil_observations_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/distil_mode_test.cpp ${CMAKE_CURRENT_LIST_DIR}/distil_digest_test.cpp
  LINK cairn_distil LABELS unit)
cairn_test(distil_open_items_test ${CMAKE_CURRENT_LIST_DIR}/distil_open_items_test.cpp LINK cairn_distil LABELS unit)
