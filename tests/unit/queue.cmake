set(d ${CMAKE_CURRENT_LIST_DIR})
cairn_test(queue_test ${d}/store_queue_retry_test.cpp ${d}/store_queue_admin_test.cpp ${d}/ops_queue_test.cpp
  LINK cairn_engine_support LABELS unit)
cairn_test(queue_threads_test ${d}/store_queue_threads_test.cpp LINK cairn_engine_support LABELS unit threads)
cairn_test(identity_test ${d}/store_identity_test.cpp LINK cairn_engine_support LABELS unit)
