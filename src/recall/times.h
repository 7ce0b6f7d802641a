// Times in plain words: "last Tuesday", "in March", "two weeks ago", "yesterday". They are a soft boost of
// what happened then, never a filter. And the words of a day, as a query may name them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace cairn::recall {

struct Span {
  WallTime from, to;
};

// The time that a query names, in the user's time zone; nothing when it names none, or more than one.
std::optional<Span> time_in(std::string_view text, WallTime now);

// The words of a moment's day, in the user's time zone: "tuesday 17 november 2026".
std::string day_in_words(WallTime at);

}  // namespace cairn::recall
