// Reads the output of a test run or a build: which tests failed, and the line that reports success.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

struct TestReport {
  std::vector<std::string> failed;  // names of tests, as the runner wrote them; at most 8
  std::string passed;               // the last line that counts what passed
  std::string error;                // the first line with an error
  bool says_failed = false;         // a failed test is named, or failures are counted
};

// Knows the output of common runners (GoogleTest, ctest, pytest, unittest, jest, vitest, mocha, go, cargo,
// TAP, RSpec). Linear; of very long output only the beginning and the end are read.
TestReport read_test_output(std::string_view output);

}  // namespace cairn::distil
