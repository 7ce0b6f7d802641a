// What a fuzz target demands: a condition that does not hold ends the run, and libFuzzer keeps the input.
#pragma once

#include <cstdlib>

#include "base/json.h"
#include "base/text.h"

namespace cairn::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

// What was parsed can be written and read again, and is the same.
inline void require_sound(const Json& value) {
  const std::string text = value.dump();
  require(is_utf8(text));
  const auto again = Json::parse(text);
  require(again.ok());
  require(again->dump() == text);
}

}  // namespace cairn::fuzz
