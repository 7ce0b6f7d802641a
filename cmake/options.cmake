# What a preset may choose. The defaults build the two programs and nothing else.
option(CAIRN_TESTS "build the tests" OFF)
option(CAIRN_BENCH "build the benchmarks" OFF)
option(CAIRN_FUZZ "build the fuzz targets (clang)" OFF)
option(CAIRN_WERROR "treat warnings as errors" OFF)
set(CAIRN_SANITIZE "" CACHE STRING "sanitizers, as in -fsanitize=")
option(CAIRN_UNITY "compile several sources of a library as one: faster, but hides an include that is missing" OFF)
