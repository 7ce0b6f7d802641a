// TOML from people's files, read into a Json value. The parser's header is heavy: who needs more than values
// includes toml_table.h, in a source file only.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

// The tables of `text` as an object; their keys are sorted. Fails with `invalid`, naming `file` and the line.
Result<Json> read_toml(std::string_view text, std::string_view file);

}  // namespace cairn
