// Whether a command is a check: a test, a build or a linter. Its result is worth reporting.
#pragma once

#include <span>
#include <string_view>

#include "distil/shell_parse.h"

namespace cairn::distil {

// `name` is the program's base name, `words` its arguments. A path that contains the word "test" does not
// make a test.
bool is_check(std::string_view name, std::span<const ShellWord> words);

}  // namespace cairn::distil
