#include "gate/secrets/shape.h"

#include <algorithm>
#include <limits>

#include "base/result.h"
#include "base/text.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxGap = 80;  // between two halves of a token
constexpr int kMaxBreaks = 3;
constexpr std::size_t kMaxRow = 48;  // characters in which a row is looked for

Chars chars_of(char sign) {
  using enum Chars;
  static constexpr std::pair<char, Chars> kLetters[] = {
      {'d', digit},      {'x', hex},     {'X', any_hex}, {'U', upper}, {'l', lower},
      {'a', alnum},      {'w', word},    {'u', url},     {'n', name},  {'e', dotted},
      {'q', tilde},      {'b', base64},  {'c', coded},   {'h', crypt}, {'s', salt},
      {'B', any_base64}, {'p', padding}, {'v', visible}, {'f', field}};
  for (const auto& [known, chars] : kLetters)
    if (known == sign) return chars;
  CAIRN_ASSERT(false);
  return alnum;
}

std::size_t read_number(std::string_view& text) {
  std::size_t out = 0;
  for (; !text.empty() && is(Chars::digit, text[0]); text.remove_prefix(1))
    out = out * 10 + static_cast<std::size_t>(text[0] - '0');
  return out;
}

}  // namespace

std::size_t over_break(std::string_view text, std::size_t at) {
  std::size_t next = at;
  bool broken = false;
  for (; next < text.size() && next - at < kMaxGap; ++next) {
    const char c = text[next];
    if (c == '\n' && broken) return at;
    broken = broken || c == '\n';
    if (!is(Chars::gap, c) && !(broken && c == '-')) break;
  }
  return broken ? next : at;
}

std::size_t over_join(std::string_view text, std::size_t at) {
  static constexpr CharSet kQuotes("\"'`"), kJoins("+.&");
  const auto skip = [&](std::size_t from, const auto& wanted) {
    while (from < text.size() && from - at < kMaxGap && wanted(text[from])) ++from;
    return from;
  };
  const auto blank = [](char c) { return is(Chars::blank, c); };
  if (at >= text.size() || !kQuotes.has(text[at])) return at;
  const std::size_t sign = skip(at + 1, blank);
  const std::size_t behind = skip(sign, [](char c) { return kJoins.has(c); });
  const std::size_t quote = skip(behind, blank);
  // Skip the blanks at the end of a line that continues on the next one.
  const bool joined = behind > sign || quote - at > 2;
  return joined && quote < text.size() && kQuotes.has(text[quote]) ? quote + 1 : at;
}

CharRun char_run(std::string_view notation) {
  CharRun run;
  run.chars = chars_of(notation[0]);
  notation.remove_prefix(1);
  run.min = run.max = read_number(notation);
  if (notation.starts_with('+')) {
    run.max = std::numeric_limits<std::size_t>::max();
    notation.remove_prefix(1);
  } else if (notation.starts_with('-')) {
    notation.remove_prefix(1);
    run.max = read_number(notation);
  }
  if (notation.starts_with('~')) {
    notation.remove_prefix(1);
    run.row = read_number(notation);
  }
  CAIRN_ASSERT(notation.empty());
  return run;
}

Shape::Parts Shape::parts_of(std::string_view word) {
  if (word == "(") return {{Part::inner, {}, ""}};
  if (word.starts_with('\'')) return {{Part::text, {}, word.substr(1, word.size() - 2)}};
  if (word != "@") return {{Part::run, char_run(word), ""}};
  Parts parts = parts_of("x8");
  for (const std::string_view run : {"x4", "x4", "x4", "x12"}) {
    parts.push_back({Part::text, {}, "-"});
    parts.push_back({Part::run, char_run(run), ""});
  }
  return parts;
}

Shape::Shape(std::string_view notation) : choices_(1) {
  for (const std::string_view word : split(notation, ' ')) {
    if (word == "|") {
      choices_.emplace_back();
      continue;
    }
    const Parts more = parts_of(word);
    choices_.back().insert(choices_.back().end(), more.begin(), more.end());
  }
  least_ = std::numeric_limits<std::size_t>::max();
  for (const Parts& parts : choices_) {
    std::size_t sum = 0;
    for (const Part& part : parts) sum += part.run_of.min + part.literal.size();
    least_ = std::min(least_, sum);
  }
}

CharRun Shape::first() const {
  if (choices_.size() == 1)
    for (const Part& part : choices_[0]) {
      if (part.kind == Part::run) return part.run_of;
      if (part.kind == Part::text) break;
    }
  return {Chars::visible, 1, 1, 0};
}

// The state of one match: its position, and how many line ends it may still cross.
class Shape::Reader {
 public:
  Reader(std::string_view text, std::size_t at, Runs& runs, int breaks)
      : text_(text), runs_(runs), breaks_(breaks) {
    match_.end = at;
  }

  bool read(const Part& part) {
    if (part.kind == Part::inner) match_.inner = match_.end;
    if (part.kind == Part::text) return read_text(part.literal);
    return part.kind != Part::run || read_run(part.run_of);
  }
  const Match& match() const { return match_; }

 private:
  bool hop() {
    const std::size_t next = breaks_ > 0 ? over_break(text_, match_.end) : match_.end;
    if (next == match_.end) return false;
    --breaks_;
    match_.end = next;
    return true;
  }

  bool read_text(std::string_view literal) {
    for (const char c : literal) {
      if ((match_.end >= text_.size() || text_[match_.end] != c) && !hop()) return false;
      if (match_.end >= text_.size() || text_[match_.end] != c) return false;
      ++match_.end;
    }
    return true;
  }

  bool read_run(const CharRun& run) {
    std::size_t taken = 0, row = 0;
    bool in_a_row = run.row == 0;
    for (;;) {
      const std::size_t begin = match_.end;
      const std::size_t now = std::min(runs_.end(run.chars, begin) - begin, run.max - taken);
      match_.end += now;
      taken += now;
      if (!in_a_row) in_a_row = read_row(text_.substr(begin, std::min(now, kMaxRow)), run.row, row);
      if (taken >= run.min) return in_a_row;
      if (!hop()) return false;
    }
  }

  // Whether `part`, together with the `row` before it, has that many letters and digits in a row. The row at
  // its end continues in the next part.
  static bool read_row(std::string_view part, std::size_t wanted, std::size_t& row) {
    for (const char c : part)
      if ((row = is(Chars::alnum, c) ? row + 1 : 0) >= wanted) return true;
    return false;
  }

  std::string_view text_;
  Runs& runs_;
  int breaks_;
  Match match_;
};

std::optional<Shape::Match> Shape::match(std::string_view text, std::size_t at, Runs& runs,
                                         bool breaks) const {
  for (const Parts& parts : choices_) {
    Reader reader(text, at, runs, breaks ? kMaxBreaks : 0);
    if (std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return reader.read(part); }))
      return reader.match();
  }
  return std::nullopt;
}

}  // namespace cairn::gate
