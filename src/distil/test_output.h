// What the output of a test run or a build says: which tests failed, and in which words it passed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::distil {

struct TestReport {
  std::vector<std::string> failed;  // names of tests, as the runner wrote them; at most 8
  std::string passed;               // the last line that counts what passed
  std::string error;                // the first line that tells of an error
  bool says_failed = false;         // a test is named as failed, or failures are counted
};

// Knows the marks of the common runners (GoogleTest, ctest, pytest, unittest, jest, vitest, mocha, go, cargo,
// TAP, RSpec). Linear; reads the head and the tail of what is very long.
TestReport read_test_output(std::string_view output);

}  // namespace cairn::distil
