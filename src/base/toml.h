// Reads TOML files into a Json value. The parser's header is slow to compile: include toml_table.h only where
// more than values is needed, and only in a source file.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

// The tables of `text` as an object; their keys are sorted. Fails with `invalid`, naming `file` and the line.
Result<Json> read_toml(std::string_view text, std::string_view file);

}  // namespace cairn
