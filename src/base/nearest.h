// Which known word somebody probably meant.
#pragma once

#include <string_view>
#include <vector>

namespace cairn {

// The one of `known` that `word` is a slip away from; empty when none is near. A swap of two letters is one
// slip, and a long word is nobody's slip.
std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace cairn
