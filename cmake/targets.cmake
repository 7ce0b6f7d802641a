# cairn_library(NAME SOURCES... [LINK libs...]): one static library for each folder of src/.
function(cairn_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC cairn_flags ${arg_LINK})
endfunction()
