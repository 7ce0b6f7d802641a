// The TOML parser's own tables, with the place of each value: for whoever edits a file. Heavy; see toml.h.
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
// Dates become null: no setting is one.
Json to_json(const toml::node& node);

}  // namespace cairn
