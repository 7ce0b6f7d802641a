cairn_test(gate_private_test ${CMAKE_CURRENT_LIST_DIR}/gate_private_test.cpp LINK cairn_gate LABELS unit)
cairn_test(gate_test ${CMAKE_CURRENT_LIST_DIR}/gate_test.cpp LINK cairn_gate LABELS unit)
set(corpus ${CMAKE_SOURCE_DIR}/tests/gate)
cairn_test(gate_secrets_test ${CMAKE_CURRENT_LIST_DIR}/gate_secrets_test.cpp ${CMAKE_CURRENT_LIST_DIR}/gate_places_test.cpp ${CMAKE_CURRENT_LIST_DIR}/gate_values_test.cpp ${CMAKE_CURRENT_LIST_DIR}/gate_mechanisms_test.cpp ${CMAKE_CURRENT_LIST_DIR}/gate_rules_test.cpp ${corpus}/secret_corpus.cpp ${corpus}/benign_corpus.cpp ${corpus}/corpus.cpp
  LINK cairn_gate LABELS unit TIMEOUT 120)
