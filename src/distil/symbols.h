// The functions and types that a change touched, read from the text of its patch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/action.h"

namespace cairn::distil {

// The name that a line of source defines: a function, a class, a type; empty: none that is recognised.
std::string_view defined_name(std::string_view line);

// The names around the changed lines, in order, each once; where a hunk does not show the definition it is
// looked for above it in `original`.
std::vector<std::string> touched_symbols(const std::vector<host::Hunk>& hunks, std::string_view original);

// The names that a new file defines at its outer level.
std::vector<std::string> defined_symbols(std::string_view content);

}  // namespace cairn::distil
