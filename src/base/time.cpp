#include "base/time.h"

#include <algorithm>
#include <cstdio>

namespace cairn {

std::string iso8601(WallTime t) {
  using namespace std::chrono;
  constexpr std::int64_t kFirst = -62167219200000, kLast = 253402300799999;  // years 0 and 9999
  const std::int64_t ms = std::clamp(epoch_ms(t), kFirst, kLast);
  const auto day = floor<days>(from_epoch_ms(ms));
  const year_month_day date(day);
  const hh_mm_ss clock(from_epoch_ms(ms) - day);
  char text[80];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

std::string ago(WallTime then, WallTime now) {
  const std::int64_t s = (epoch_ms(now) - epoch_ms(then)) / 1000;
  if (s < 60) return "just now";
  if (s < 3600) return std::to_string(s / 60) + " min ago";
  if (s < 48 * 3600) return std::to_string(s / 3600) + " h ago";
  if (s < 60 * 86400) return std::to_string(s / 86400) + " d ago";
  return iso8601(then).substr(0, 10);
}

}  // namespace cairn
