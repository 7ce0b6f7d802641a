// The TOML parser's own tables, with the line of each value, for code that edits a file. Slow to compile: see
// toml.h.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

// Fails with `invalid`, naming `file` and the line.
Result<toml::table> parse_toml(std::string_view text, std::string_view file);
// Dates become null: no setting is a date.
Json to_json(const toml::node& node);

}  // namespace cairn
