// Suggests the known word that a person probably meant.
#pragma once

#include <string_view>
#include <vector>

namespace cairn {

// The word of `known` that differs from `word` by a typing error; empty when none is near. Swapping two
// letters is one error. Very long words get no suggestion.
std::string_view did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace cairn
