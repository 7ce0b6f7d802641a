# One dialect, one set of warnings, ccache where it is installed.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Most of the time goes into SQLite and the libraries marked HOT (targets.cmake), which have -O2. For the others -O2
# changes nothing that can be measured, and they take twice as long to compile.
set(CMAKE_CXX_FLAGS_RELEASE "-O1")
set(CMAKE_C_FLAGS_RELEASE "-O2")

find_program(CAIRN_CCACHE ccache)
if(CAIRN_CCACHE)
  # ccache knows precompiled headers only when it is told that their defines do not matter. With a base directory the
  # clones and worktrees of one machine share what was compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CAIRN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

add_library(cairn_flags INTERFACE)
target_include_directories(cairn_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(cairn_flags INTERFACE CAIRN_VERSION="${PROJECT_VERSION}" _FILE_OFFSET_BITS=64)
target_compile_options(cairn_flags INTERFACE -Wall -Wextra -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # clang also means names of other sources that are compiled together with this one.
  target_compile_options(cairn_flags INTERFACE -Wshadow)
  # gcc 12 sees overlapping copies and overruns in std::string that are none (its bugs 105329 and 105651).
  target_compile_options(cairn_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
else()
  # `a & b` of two bools is on purpose where a jump would cost more.
  target_compile_options(cairn_flags INTERFACE -Wno-bitwise-instead-of-logical)
  # A precompiled header of the cache is good although a package has given the system's headers another date.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
if(CAIRN_WERROR)
  target_compile_options(cairn_flags INTERFACE -Werror)
endif()

if(CAIRN_SANITIZE)
  # gcc has macros for these, clang 14 has not.
  if(CAIRN_SANITIZE MATCHES "address")
    target_compile_definitions(cairn_flags INTERFACE CAIRN_CHECKS_ADDRESSES)
  elseif(CAIRN_SANITIZE MATCHES "thread")
    target_compile_definitions(cairn_flags INTERFACE CAIRN_CHECKS_THREADS)
  endif()
  add_compile_options(-fsanitize=${CAIRN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CAIRN_SANITIZE})
  if(CAIRN_SANITIZE MATCHES "undefined")
    # AddressSanitizer sees a null pointer as well, and no object here is unaligned by accident: these checks stand
    # before every access and are a third of what the compiler has to do.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
endif()

# Static archives of the distribution are not all position-independent; a command also starts faster without relocations.
add_link_options(-no-pie)

# lld links a test program with sanitizers in about a second, GNU ld in several.
find_program(CAIRN_LLD ld.lld)
if(CAIRN_LLD)
  add_link_options(-fuse-ld=lld)
endif()
