#include "base/time.h"

#include <algorithm>
#include <charconv>
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

// The number that the `count` characters at `at` write; nothing if one of them is no digit.
static std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int number = 0;
  const char* const end = text.data() + at + count;
  const auto [next, error] = std::from_chars(text.data() + at, end, number);
  if (error != std::errc() || next != end || number < 0) return std::nullopt;
  return number;
}

std::optional<WallTime> parse_iso8601(std::string_view text) {
  using namespace std::chrono;
  // 20 characters without a fraction; with nanoseconds, which some programs write, 30.
  if (text.size() < 20 || text.size() > 30 || !text.ends_with('Z')) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2);
  const auto h = digits(text, 11, 2), mi = digits(text, 14, 2), s = digits(text, 17, 2);
  // 60 is a leap second.
  if (!y || !mo || !d || !h || !mi || !s || *h > 23 || *mi > 59 || *s > 60) return std::nullopt;
  const year_month_day date(year(*y), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d)));
  if (!date.ok()) return std::nullopt;
  int ms = 0;
  if (text[19] == '.') {
    // 21 characters are not the fraction: 19 before it, the point and the Z. What is finer than a millisecond
    // is ignored.
    const std::size_t count = std::min<std::size_t>(3, text.size() - 21);
    const auto fraction = count > 0 ? digits(text, 20, count) : std::nullopt;
    if (!fraction) return std::nullopt;
    ms = count == 1 ? *fraction * 100 : count == 2 ? *fraction * 10 : *fraction;
  } else if (text.size() != 20) {
    return std::nullopt;
  }
  return WallTime(sys_days(date)) + hours(*h) + minutes(*mi) + seconds(*s) + milliseconds(ms);
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
