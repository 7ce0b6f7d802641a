# `cairn doctor` against homes that are broken in the ways that users meet, and `cairn demo`.
cairn_test(doctor_system_test ${CMAKE_CURRENT_LIST_DIR}/doctor_test.cpp ${CMAKE_CURRENT_LIST_DIR}/demo_test.cpp
  LINK cairn_hook_lib cairn_test_process LABELS system TIMEOUT 120)
add_dependencies(doctor_system_test cairn cairn-hook)
