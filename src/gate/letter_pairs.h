// Whether letters follow each other as in words or as drawn by lot.
#pragma once

#include <string_view>

namespace cairn::gate {

// How much likelier the pairs of letters in `value` are in words than by lot, in quarters of a bit; below 0:
// by lot. Short parts, pairs of capitals (they abbreviate) and a capital behind a small letter (a new word
// begins) say nothing.
int likeness_to_words(std::string_view value);

inline constexpr int kByLot = -16;     // sixteen to one
inline constexpr int kAsInWords = 32;  // 256 to one

}  // namespace cairn::gate
