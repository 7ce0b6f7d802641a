// Carries the precompiled headers of the tests; see tests/CMakeLists.txt.
