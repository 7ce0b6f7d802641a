# The headers that most sources read anyway, read once. A source still names what it uses: without this file, and in
# cairn-hook's own sources, it compiles the same.
set(CAIRN_COMMON_HEADERS
  <algorithm> <array> <cerrno> <charconv> <chrono> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <string>
  <string_view> <utility> <variant> <vector> <fmt/format.h>)
foreach(header ids json result text time)
  list(APPEND CAIRN_COMMON_HEADERS ${CMAKE_SOURCE_DIR}/src/base/${header}.h)
endforeach()

# cairn_headers(TARGET [KIND]): gives a target the precompiled headers of the targets whose flags are of the same
# kind. The first of them makes the headers.
function(cairn_headers target)
  set(kind "${ARGN}")
  get_property(holder GLOBAL PROPERTY cairn_headers_${kind})
  if(holder)
    target_precompile_headers(${target} REUSE_FROM ${holder})
  else()
    target_precompile_headers(${target} PRIVATE ${CAIRN_COMMON_HEADERS})
    set_property(GLOBAL PROPERTY cairn_headers_${kind} ${target})
  endif()
endfunction()

# cairn_library(NAME SOURCES... [LINK libs...] [HOT] [FUZZED]): one static library for each folder of src/.
# HOT: most of the time is spent in it, so it is optimised one level more than the others.
# FUZZED: it reads bytes from outside. The fuzz targets see which of its code an input reaches; the others would only
# compile and run a tenth slower with that.
function(cairn_library name)
  cmake_parse_arguments(arg "HOT;FUZZED" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC cairn_flags ${arg_LINK})
  set(kind "")
  if(arg_HOT AND CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${name} PRIVATE -O2)
    string(APPEND kind "hot")
  elseif(arg_HOT AND CAIRN_SANITIZE MATCHES "address")
    target_compile_options(${name} PRIVATE -O1)
    string(APPEND kind "hot")
  endif()
  if(arg_FUZZED AND CAIRN_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${name} INTERFACE -fsanitize=fuzzer-no-link)
    string(APPEND kind "fuzzed")
  endif()
  cairn_headers(${name} ${kind})
endfunction()
