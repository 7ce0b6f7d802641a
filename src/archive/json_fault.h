// Finds the place where a text stops being valid JSON. Builds no values; accepts any depth.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::archive {

struct JsonFault {
  std::size_t column = 1;  // of the byte that does not fit, from 1
  std::string what;
};

// Nothing when `line` is one JSON object, or blank.
std::optional<JsonFault> line_fault(std::string_view line);

}  // namespace cairn::archive
