# The headers that most sources read anyway, read once. A source still names what it uses: without this file, and in
# cairn-hook's own sources, it compiles the same.
set(CAIRN_COMMON_HEADERS
  <algorithm> <array> <cerrno> <charconv> <chrono> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <string>
  <string_view> <utility> <variant> <vector> <fmt/format.h>)

# cairn_library(NAME SOURCES... [LINK libs...]): one static library for each folder of src/.
function(cairn_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC cairn_flags ${arg_LINK})
  if(CAIRN_FUZZ)
    # For the fuzz targets: they see which code an input reaches. Tests that link it run a tenth slower.
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${name} INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  if(TARGET cairn_base AND NOT ${name} STREQUAL cairn_base)
    target_precompile_headers(${name} REUSE_FROM cairn_base)
  else()
    target_precompile_headers(${name} PRIVATE ${CAIRN_COMMON_HEADERS})
  endif()
endfunction()
