// Whether letters follow each other as in words or as drawn by lot.
#pragma once

#include <string_view>

namespace cairn::gate {

// How much likelier the pairs of letters in `value` are in words than by lot, in quarters of a bit; below 0:
// by lot. Short parts, pairs of capitals (they abbreviate) and a capital behind a small letter (a new word
// begins) say nothing.
int likeness_to_words(std::string_view value);

// Sixteen to one.
inline bool is_by_lot(std::string_view value) {
  return likeness_to_words(value) < -16;
}

}  // namespace cairn::gate
