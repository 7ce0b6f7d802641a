cairn_test(gate_private_test ${CMAKE_CURRENT_LIST_DIR}/gate_private_test.cpp LINK cairn_gate LABELS unit)
cairn_test(gate_test ${CMAKE_CURRENT_LIST_DIR}/gate_test.cpp LINK cairn_gate LABELS unit)
