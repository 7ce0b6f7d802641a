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

# cairn_library(NAME SOURCES... [LINK libs...] [HOT]): one static library for each folder of src/. HOT: tests spend
# most of their time in it, so it is optimised in the build with AddressSanitizer too, although it then takes 2.5 times
# as long to compile.
function(cairn_library name)
  cmake_parse_arguments(arg "HOT" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC cairn_flags ${arg_LINK})
  if(CAIRN_FUZZ)
    # For the fuzz targets: they see which code an input reaches. Tests that link it run a tenth slower.
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${name} INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  if(arg_HOT AND CAIRN_SANITIZE MATCHES "address")
    target_compile_options(${name} PRIVATE -O1)
    cairn_headers(${name} hot)
  else()
    cairn_headers(${name})
  endif()
endfunction()
