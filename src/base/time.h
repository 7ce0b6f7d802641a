// Times as the product keeps and shows them: milliseconds since the epoch, and ISO-8601 UTC text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

using Millis = std::chrono::milliseconds;
using WallTime = std::chrono::sys_time<Millis>;

inline std::int64_t epoch_ms(WallTime t) {
  return t.time_since_epoch().count();
}
inline WallTime from_epoch_ms(std::int64_t ms) {
  return WallTime(Millis(ms));
}

// "2026-11-15T18:36:37.506Z". Years outside 0..9999 are clamped.
std::string iso8601(WallTime t);
// The time that such a text names; its fraction of a second may be shorter or missing. Nothing for any other
// text.
std::optional<WallTime> parse_iso8601(std::string_view text);

// How long ago in words that fit a column: "just now", "5 min ago", "2 h ago", "3 d ago", "2026-08-01" beyond
// 60 days. A time in the future (a clock that jumped) is "just now".
std::string ago(WallTime then, WallTime now);

}  // namespace cairn
