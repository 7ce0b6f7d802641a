// Taking corrections back, for `undo`.
#pragma once

#include <string_view>

#include "base/json.h"
#include "ops/operation.h"

namespace cairn::ops {

// Whether `cairn undo` of that kind is one of a correction.
bool is_correction(std::string_view what);
// Restores the record as it was before, in the caller's transaction.
Status take_back_correction(World& world, std::string_view what, const Json& detail);

}  // namespace cairn::ops
