# The settings: one table, config.toml, the environment.
cairn_test(settings_test ${CMAKE_CURRENT_LIST_DIR}/settings_test.cpp LINK cairn_ops cairn_test_process LABELS unit)
