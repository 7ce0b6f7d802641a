# The simulation: a library of the world and its model, the program that replays a seed, and the tests.
set(d ${CMAKE_CURRENT_LIST_DIR})
cairn_library(cairn_sim
  ${d}/hosts.cpp ${d}/model.cpp ${d}/invariants.cpp ${d}/invariants_rest.cpp ${d}/schedule.cpp ${d}/trouble.cpp ${d}/imports.cpp ${d}/forgets.cpp ${d}/renames.cpp
  ${d}/runner.cpp ${d}/seeded_random.cpp
  LINK cairn_engine_support)
add_executable(sim ${d}/main.cpp)
target_link_libraries(sim PRIVATE cairn_sim)
# ./check full runs the promised number with the optimised build, alone on the machine.
if(DEFINED ENV{CAIRN_FULL} AND NOT CAIRN_SANITIZE)
  set(labels bench)
else()
  set(labels fault)
endif()
cairn_test(simulation_test ${d}/simulation_test.cpp LINK cairn_sim LABELS ${labels} TIMEOUT 3600)

# mutate(SOURCE [FROM TO]...): a copy of a source of src/ in which each FROM, found exactly once, is TO. Its path is added
# to `mutants`; linked as an object it takes the place of the original in its library.
set(mutants)
function(mutate source)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${source})
  file(READ ${CMAKE_SOURCE_DIR}/src/${source} text)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last} 2)
    math(EXPR j "${i} + 1")
    string(FIND "${text}" "${ARGV${i}}" first)
    string(FIND "${text}" "${ARGV${i}}" again REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL again)
      message(FATAL_ERROR "${source} has not exactly once: ${ARGV${i}}")
    endif()
    string(REPLACE "${ARGV${i}}" "${ARGV${j}}" text "${text}")
  endforeach()
  get_filename_component(folder ${source} DIRECTORY)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/${source} TARGET_DIRECTORY cairn_${folder}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  get_filename_component(name ${source} NAME)
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name})
  file(CONFIGURE OUTPUT ${copy} CONTENT "#include \"sim/mutation.h\"\n@text@" @ONLY)
  set(mutants ${mutants} ${copy} PARENT_SCOPE)
endfunction()

mutate(store/queue.cpp
  [[return recover(db, TRY(db.query(PROCESSING)),]]
  [[if (sim::mutation == 1) return Recovered{};
  return recover(db, TRY(db.query(PROCESSING)),]]
  [["ORDER BY m.id LIMIT ?4",]]
  [[+ std::string(sim::mutation == 5 ? "ORDER BY m.id DESC LIMIT ?4" : "ORDER BY m.id LIMIT ?4"),]])
mutate(intake/intake.cpp
  [[  return transaction.commit();]]
  [[  if (sim::mutation == 2) clear_files(group);
  return transaction.commit();]]
  [[    if (holding_)]]
  [[    if (holding_ && sim::mutation != 8)]]
  [[std::vector<EventId> ids = TRY(reader_.older_of_session(id));]]
  [[std::vector<EventId> ids;
  if (sim::mutation != 7) ids = TRY(reader_.older_of_session(id));]])
mutate(store/events.cpp
  [[constexpr std::int64_t kWindowMs = 5000;]]
  [[const std::int64_t kWindowMs = sim::mutation == 3 ? -1 : 5000;]])
mutate(store/open_store.cpp
  [[TRY(write_wal_again(disk, path + "-wal"));]]
  [[if (sim::mutation != 4) TRY(write_wal_again(disk, path + "-wal"));]])
mutate(forget/job.cpp
  [[TRY(store::add_tombstone(db, row_of(tombstone), id, true, now));]]
  [[if (sim::mutation != 6) TRY(store::add_tombstone(db, row_of(tombstone), id, true, now));]])
# Without a sanitizer: it tests the simulation, and needs many schedules.
cairn_test(simulation_mutants_test ${d}/mutants_test.cpp ${mutants} LINK cairn_sim LABELS system TIMEOUT 600)
set_target_properties(simulation_mutants_test PROPERTIES UNITY_BUILD OFF)  # each replaces one source
