// Finds the functions and types that a change touched, from its patch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/action.h"

namespace cairn::distil {

// The name that a line of source code defines (a function, class or type); empty when none is recognised.
std::string_view defined_name(std::string_view line);

// The names around the changed lines, in order, each once. When a hunk does not show the definition, the
// lines above it in `original` are searched.
std::vector<std::string> touched_symbols(const std::vector<host::Hunk>& hunks, std::string_view original);

// The names that a new file defines at its top level.
std::vector<std::string> defined_symbols(std::string_view content);

}  // namespace cairn::distil
