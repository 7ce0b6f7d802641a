# Running programs, temporary directories, waiting: for every suite that starts the real binaries.
cairn_library(cairn_test_process ${CMAKE_CURRENT_LIST_DIR}/process.cpp ${CMAKE_CURRENT_LIST_DIR}/networks.cpp ${CMAKE_CURRENT_LIST_DIR}/http_server.cpp ${CMAKE_CURRENT_LIST_DIR}/temp_dir.cpp LINK cairn_base)
target_include_directories(cairn_test_process PUBLIC ${CMAKE_SOURCE_DIR}/tests)

cairn_test(process_test ${CMAKE_CURRENT_LIST_DIR}/process_test.cpp LINK cairn_test_process LABELS unit)
