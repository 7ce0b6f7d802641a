#include "recall/times.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <utility>
#include <vector>

#include "base/text.h"

namespace cairn::recall {

namespace {

constexpr std::array<std::string_view, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                                   "thursday", "friday", "saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 12> kNumbers = {"one",   "two",   "three", "four", "five",   "six",
                                                       "seven", "eight", "nine",  "ten",  "eleven", "twelve"};

// The index of a name, or of its first three letters: "mar".
template <std::size_t Size>
std::optional<int> among(const std::array<std::string_view, Size>& names, std::string_view word) {
  for (std::size_t i = 0; i < Size; ++i)
    if (names[i] == word || (word.size() == 3 && names[i].substr(0, 3) == word)) return static_cast<int>(i);
  return std::nullopt;
}

std::optional<int> count_in(std::string_view word) {
  if (word == "a" || word == "an") return 1;
  for (std::size_t i = 0; i < kNumbers.size(); ++i)
    if (kNumbers[i] == word) return static_cast<int>(i) + 1;
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0 || value > 10'000)
    return std::nullopt;
  return value;
}

std::tm midnight(WallTime now) {
  const std::time_t at = epoch_ms(now) / 1000;
  std::tm parts{};
  localtime_r(&at, &parts);
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  return parts;
}

WallTime wall(std::tm parts) {
  parts.tm_isdst = -1;
  return from_epoch_ms(static_cast<std::int64_t>(std::mktime(&parts)) * 1000);
}

// `count` days, beginning `first` days after `from`.
Span days(std::tm from, int first, int count) {
  from.tm_mday += first;
  std::tm to = from;
  to.tm_mday += count;
  return {wall(from), wall(to) - Millis(1)};
}

Span months(std::tm from, int first, int count) {
  from.tm_mday = 1;
  from.tm_mon += first;
  std::tm to = from;
  to.tm_mon += count;
  return {wall(from), wall(to) - Millis(1)};
}

class Reader {
 public:
  Reader(std::string_view text, WallTime now) : today_(midnight(now)) {
    std::string word;
    // The blank at the end closes the last word.
    for (const char c : ascii_lower(prefix(text, 4000)) + " ") {
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (static_cast<unsigned char>(c) & 0x80) != 0) {
        word += c;
      } else if (!word.empty()) {
        words_.push_back(std::exchange(word, {}));
      }
    }
  }

  std::optional<Span> read() {
    std::optional<Span> found;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto span = at(i);
      if (!span) continue;
      // Two different times in one query: which one is meant is not known.
      if (found && (found->from != span->from || found->to != span->to)) return std::nullopt;
      found = span;
    }
    return found;
  }

 private:
  std::string_view word(std::size_t i) const {
    return i < words_.size() ? std::string_view(words_[i]) : std::string_view();
  }

  // The time that begins with the i-th word.
  std::optional<Span> at(std::size_t i) const {
    const std::string_view first = word(i), before = i > 0 ? word(i - 1) : std::string_view();
    if (first == "today") return days(today_, 0, 1);
    if (first == "yesterday") return days(today_, -1, 1);
    if (first == "last" || first == "this" || first == "past") return relative(first, word(i + 1));
    if (const auto count = count_in(first); count && word(i + 2) == "ago") return ago(*count, word(i + 1));
    // The word before has used this one: "last march" is read at "last".
    if (before == "last" || before == "this" || before == "past") return std::nullopt;
    // "may" and "march" are words of their own: only after "in", "since", or with a year or a day.
    if (const auto month = among(kMonths, first); month && first.size() >= 3) return of_month(i, *month);
    if (const auto day = among(kDays, first); day && first.size() > 3 && before == "on")
      return last_day(*day, true);
    return std::nullopt;
  }

  std::optional<Span> relative(std::string_view which, std::string_view unit) const {
    const int back = which == "this" ? 0 : 1;
    if (unit == "week") return days(today_, -((today_.tm_wday + 6) % 7) - 7 * back, 7);
    if (unit == "month") return months(today_, -back, 1);
    if (unit == "year") return months(today_, -today_.tm_mon - 12 * back, 12);
    if (unit == "night") return days(today_, -1, 1);
    if (unit == "morning" || unit == "afternoon" || unit == "evening") return days(today_, -back, 1);
    if (unit == "weekend") return days(today_, -((today_.tm_wday + 6) % 7) - 2, 2);
    if (const auto day = among(kDays, unit); day && unit.size() > 3) return last_day(*day, which == "this");
    // "this may fail" names no month.
    if (const auto month = among(kMonths, unit); month && which != "this") return past_month(*month);
    return std::nullopt;
  }

  // The last such day before today, or today.
  Span last_day(int day, bool or_today) const {
    int back = (today_.tm_wday - day + 7) % 7;
    if (back == 0 && !or_today) back = 7;
    return days(today_, -back, 1);
  }

  Span past_month(int month) const {
    const int back = (today_.tm_mon - month + 12) % 12;
    return months(today_, -back, 1);
  }

  std::optional<Span> of_month(std::size_t i, int month) const {
    const std::string_view before = i > 0 ? word(i - 1) : std::string_view();
    const auto is_year = [](std::optional<int> n) { return n && *n >= 1990 && *n <= 2200; };
    const auto is_day = [](std::optional<int> n) { return n && *n >= 1 && *n <= 31; };
    // "17 march 2026", "march 17, 2026" and "march 2026": a number next to the month is a day if it can be
    // one, and a later one a year.
    std::optional<int> day = count_in(before), after = count_in(word(i + 1)), year = after;
    if (!is_day(day) && is_day(after)) day = after, year = count_in(word(i + 2));
    if (!is_year(year)) year.reset();
    if (!is_day(day)) day.reset();
    if (!day && !year && before != "in" && before != "since" && before != "during" && before != "of")
      return std::nullopt;
    Span span = past_month(month);
    std::tm first = midnight(span.from);
    if (year) first.tm_year = *year - 1900;
    if (!day) return months(first, 0, 1);
    return days(first, *day - 1, 1);
  }

  // People round: "two weeks ago" is a week around that day, "a month ago" a month around it.
  std::optional<Span> ago(int count, std::string_view unit) const {
    if (unit.ends_with('s')) unit.remove_suffix(1);
    if (unit == "day") return days(today_, -count, 1);
    if (unit == "week") return days(today_, -7 * count - 3, 7);
    if (unit == "month") return days(today_, -30 * count - 15, 31);
    if (unit == "hour" || unit == "minute") return days(today_, 0, 1);
    if (unit == "year") return months(today_, -12 * count - 2, 5);
    return std::nullopt;
  }

  std::tm today_;
  std::vector<std::string> words_;
};

}  // namespace

std::optional<Span> time_in(std::string_view text, WallTime now) {
  return Reader(text, now).read();
}

std::string day_in_words(WallTime at) {
  const std::tm day = midnight(at);
  std::string text(kDays[static_cast<std::size_t>(day.tm_wday)]);
  text.append(" ").append(std::to_string(day.tm_mday));
  text.append(" ").append(kMonths[static_cast<std::size_t>(day.tm_mon)]);
  return text.append(" ").append(std::to_string(day.tm_year + 1900));
}

}  // namespace cairn::recall
