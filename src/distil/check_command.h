// Whether a command is a check: a test, a build, a linter. That one passed or failed is news.
#pragma once

#include <span>
#include <string_view>

#include "distil/shell_parse.h"

namespace cairn::distil {

// `name` is the program's base name, `words` what follows it. A path that happens to hold the word "test" is
// no test.
bool is_check(std::string_view name, std::span<const ShellWord> words);

}  // namespace cairn::distil
