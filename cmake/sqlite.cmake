# SQLite 3.51.3 or newer: older ones can corrupt a WAL database that several connections checkpoint at
# once. The amalgamation is fetched (scripts/fetch_sqlite checks its hash) and never committed; a system
# library that is new enough serves as well.
set(CAIRN_SQLITE_DIR ${CMAKE_SOURCE_DIR}/third_party/sqlite)
if(NOT EXISTS ${CAIRN_SQLITE_DIR}/sqlite3.c)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch_sqlite RESULT_VARIABLE fetched)
endif()
if(EXISTS ${CAIRN_SQLITE_DIR}/sqlite3.c)
  add_library(cairn_sqlite STATIC ${CAIRN_SQLITE_DIR}/sqlite3.c)
  target_include_directories(cairn_sqlite SYSTEM PUBLIC ${CAIRN_SQLITE_DIR})
  target_compile_definitions(cairn_sqlite PRIVATE
    SQLITE_THREADSAFE=2 SQLITE_DQS=0 SQLITE_DEFAULT_FOREIGN_KEYS=1 SQLITE_DEFAULT_MEMSTATUS=0
    SQLITE_ENABLE_FTS5 SQLITE_ENABLE_DBSTAT_VTAB SQLITE_LIKE_DOESNT_MATCH_BLOBS SQLITE_OMIT_DEPRECATED
    SQLITE_OMIT_SHARED_CACHE SQLITE_OMIT_LOAD_EXTENSION SQLITE_USE_ALLOCA SQLITE_MAX_EXPR_DEPTH=0
    HAVE_USLEEP=1 HAVE_FDATASYNC=1)
  # The same words for every preset, without sanitizers: ccache then compiles its quarter of a million lines once. What we
  # hand to it is checked all the same.
  set_target_properties(cairn_sqlite PROPERTIES COMPILE_OPTIONS "-w")
  target_link_libraries(cairn_sqlite PRIVATE m pthread)
else()
  find_package(SQLite3 3.51.3)
  if(NOT SQLite3_FOUND)
    message(FATAL_ERROR "SQLite 3.51.3 or newer is needed: scripts/fetch_sqlite could not fetch it (see above), and "
                        "the system has none that is new enough.")
  endif()
  add_library(cairn_sqlite INTERFACE)
  target_link_libraries(cairn_sqlite INTERFACE SQLite::SQLite3)
endif()
