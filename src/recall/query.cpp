#include "recall/query.h"

#include <algorithm>
#include <charconv>
#include <ctime>

#include "base/text.h"

namespace cairn::recall {

namespace {

using namespace std::chrono;

// Reads from left to right: quoted text, or a word up to the next blank.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty();
  }
  bool at_quote() const { return rest_.starts_with('"'); }
  // The text between the quote at the current position and the next one, or the end.
  std::string_view quoted() {
    rest_.remove_prefix(1);
    const std::size_t end = std::min(rest_.find('"'), rest_.size());
    const std::string_view inside = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return inside;
  }
  // The text up to a blank, and with `stops_at_quote` up to a quote.
  std::string_view word(bool stops_at_quote) {
    std::size_t end = 0;
    while (end < rest_.size() && !is_blank(rest_[end]) && !(stops_at_quote && rest_[end] == '"')) ++end;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }
  // Skips `name` (such as "type:") if it is next.
  bool take(std::string_view name) {
    if (!rest_.starts_with(name)) return false;
    rest_.remove_prefix(name.size());
    return true;
  }
  std::string_view rest() const { return rest_; }
  void back_to(std::string_view rest) { rest_ = rest; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }
  std::string_view rest_;
};

// False: the value is invalid, and the text is read as plain words.
bool set_filter(Query& query, std::string_view name, std::string_view value, WallTime now) {
  if (value.empty()) return false;
  if (name == "kind:") return query.kind = ascii_lower(value), true;
  if (name == "type:") return query.type = value, true;
  if (name == "concept:") return query.concept_name = value, true;
  if (name == "file:") return query.file = value, true;
  if (name == "project:") return query.project = value, true;
  if (name == "host:") return query.host = ascii_lower(value), true;
  const auto moment = read_moment(value, now, name == "until:");
  if (moment) (name == "until:" ? query.until : query.since) = *moment;
  return moment.ok();
}

bool read_filter(Scanner& scanner, Query& query, WallTime now) {
  const std::string_view before = scanner.rest();
  for (const std::string_view name :
       {"kind:", "type:", "concept:", "file:", "project:", "host:", "since:", "until:"}) {
    if (!scanner.take(name)) continue;
    const std::string_view value = scanner.at_quote() ? scanner.quoted() : scanner.word(false);
    if (set_filter(query, name, value, now)) return true;
    scanner.back_to(before);
  }
  return false;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "3d": three days before now.
std::optional<WallTime> read_age(std::string_view text, WallTime now) {
  struct Unit {
    std::string_view name;
    seconds length;
  };
  static constexpr Unit kUnits[] = {{"min", minutes(1)}, {"h", hours(1)},        {"d", hours(24)},
                                    {"w", hours(168)},   {"mo", hours(24 * 30)}, {"y", hours(24 * 365)}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = number(text.substr(0, digits));
  if (!count || *count > 100'000) return std::nullopt;
  for (const Unit& unit : kUnits)
    if (text.substr(digits) == unit.name) return now - *count * unit.length;
  return std::nullopt;
}

// mktime() also accepts the 32nd of a month or the 13th month, which callers use to step to the next one.
WallTime local(std::tm parts) {
  // The system finds out whether it is summer time.
  parts.tm_isdst = -1;
  return from_epoch_ms(static_cast<std::int64_t>(std::mktime(&parts)) * 1000);
}

std::tm day_of(WallTime now) {
  const std::time_t at = epoch_ms(now) / 1000;
  std::tm parts{};
  localtime_r(&at, &parts);
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  return parts;
}

// Digits at fixed places: "2026-10-01 14:30:00", or only its date, its month or its minutes. `length`: the
// bytes of the text, which say how exact the time is.
std::optional<std::tm> read_calendar(std::string_view text, std::size_t& length) {
  static constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  static constexpr std::size_t kEnds[] = {7, 10, 16, 19};
  if (std::find(std::begin(kEnds), std::end(kEnds), text.size()) == std::end(kEnds)) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool is_t = kShape[i] == ' ' && text[i] == 'T';
    if (kShape[i] == 'd' ? !digit : text[i] != kShape[i] && !is_t) return std::nullopt;
  }
  const auto part = [&](std::size_t at, std::size_t size, int otherwise) {
    return at < text.size() ? number(text.substr(at, size)).value_or(otherwise) : otherwise;
  };
  std::tm parts{};
  parts.tm_year = part(0, 4, 1970) - 1900;
  parts.tm_mon = part(5, 2, 1) - 1;
  parts.tm_mday = part(8, 2, 1);
  parts.tm_hour = part(11, 2, 0);
  parts.tm_min = part(14, 2, 0);
  parts.tm_sec = part(17, 2, 0);
  const year_month_day date{year(parts.tm_year + 1900), month(static_cast<unsigned>(parts.tm_mon + 1)),
                            day(static_cast<unsigned>(parts.tm_mday))};
  if (!date.ok() || parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 60) return std::nullopt;
  length = text.size();
  return parts;
}

}  // namespace

Query read_query(std::string_view text, WallTime now) {
  Query query;
  query.now = now;
  Scanner scanner(text);
  while (!scanner.done()) {
    if (scanner.at_quote()) {
      query.phrases.emplace_back(scanner.quoted());
    } else if (!read_filter(scanner, query, now)) {
      const std::string_view word = scanner.word(true);
      // --name may be an option that the user searches for, so it is no exclusion.
      if (word.size() > 1 && word.front() == '-' && word[1] != '-')
        query.without.emplace_back(word.substr(1));
      else
        query.words.append(word).append(" ");
    }
  }
  query.about = time_in(query.words, now);
  return query;
}

Result<WallTime> read_moment(std::string_view given, WallTime now, bool end) {
  std::string text = ascii_lower(trim(given));
  if (const auto age = read_age(text, now)) return *age;
  std::tm today = day_of(now);
  if (text == "yesterday") --today.tm_mday;
  if (text == "today" || text == "yesterday") {
    if (end) ++today.tm_mday;
    return local(today) - Millis(end ? 1 : 0);
  }
  // The letters T and Z of a date are capitals, so read the text as it was given.
  text = std::string(trim(given));
  const bool utc = text.ends_with('Z');
  if (utc) text.pop_back();
  std::size_t size = 0;
  auto parts = read_calendar(text, size);
  if (!parts)
    return Error{Code::invalid,
                 "\"" + one_line(visible(valid_utf8(std::string(given))), 60) +
                     "\" is no date: write 2h, 3d, 2w, 6mo, yesterday, 2026-10-01 or 2026-10-01T14:30"};
  const bool whole = end && size <= 10;  // a day or a month: its last moment
  if (whole) ++(size == 7 ? parts->tm_mon : parts->tm_mday);
  const WallTime at = utc ? from_epoch_ms(static_cast<std::int64_t>(timegm(&*parts)) * 1000) : local(*parts);
  return at - Millis(whole ? 1 : 0);
}

}  // namespace cairn::recall
