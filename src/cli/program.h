// Runs another program to its end, with given input, and returns its output.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

struct Ran {
  int exit_code = -1;  // -1: a signal ended it
  std::string out;
  std::string err;
};

// Runs argv[0] (a path) with that environment. Fails with `not_found` or `denied` when it cannot be started,
// and with `timeout` when it had to be killed.
Result<Ran> run_program(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                        std::string_view input, std::chrono::milliseconds timeout);

// What `PROGRAM --version` prints, the program being looked up on PATH; nothing when it cannot be run, fails
// or takes longer than `timeout`.
std::optional<std::string> version_of(std::string_view program, std::chrono::milliseconds timeout);

}  // namespace cairn::cli
