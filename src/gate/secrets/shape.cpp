#include "gate/secrets/shape.h"

#include <algorithm>
#include <limits>

#include "base/result.h"
#include "base/text.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxGap = 80;  // between two halves of a token
constexpr int kMaxBreaks = 3;

Chars chars_of(char sign) {
  using enum Chars;
  static constexpr std::pair<char, Chars> kLetters[] = {
      {'d', digit},      {'x', hex},     {'X', any_hex}, {'U', upper}, {'l', lower},
      {'a', alnum},      {'w', word},    {'u', url},     {'n', name},  {'e', dotted},
      {'q', tilde},      {'b', base64},  {'c', coded},   {'h', crypt}, {'s', salt},
      {'B', any_base64}, {'p', padding}, {'v', visible}, {'f', field}, {'g', divider}};
  for (const auto& [known, chars] : kLetters)
    if (known == sign) return chars;
  CAIRN_ASSERT(false);
  return alnum;
}

}  // namespace

std::size_t over_gap(std::string_view text, std::size_t at) {
  bool broken = false;
  std::size_t next = at;
  for (; next < text.size() && next - at < kMaxGap; ++next) {
    const char c = text[next];
    // An empty line ends a text: the token does not go on.
    if (c == '\n' && broken) return at;
    broken = broken || c == '\n';
    if (!is(Chars::gap, c) && !(broken && c == '-')) break;
  }
  // "..." + "..."
  const bool joined = next > at + 2 && is_quote(text[at]) && is_quote(text[next - 1]) &&
                      between(text, at, next).find_first_of("|>\\") == std::string_view::npos;
  return broken || joined ? next : at;
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
  CAIRN_ASSERT(notation.empty());
  return run;
}

void Shape::add_parts(std::string_view word, Parts& parts) {
  if (word == "(") return parts.push_back({Part::inner});
  if (word == "@") {
    for (const std::string_view part : {"x8", "'-'", "x4", "'-'", "x4", "'-'", "x4", "'-'", "x12"})
      add_parts(part, parts);
    return;
  }
  if (word.starts_with('\''))
    parts.push_back({Part::text, {}, between(word, 1, word.size() - 1)});
  else
    parts.push_back({Part::run, char_run(word)});
}

Shape::Shape(std::string_view notation) : choices_(1) {
  // A blank within quotes belongs to the text.
  for (std::size_t at = 0; at < notation.size();) {
    const std::size_t quote = notation.find('\'', at),
                      blank = std::min(notation.find(' ', at), notation.size());
    const std::size_t end = quote < blank ? notation.find('\'', quote + 1) + 1 : blank;
    if (const std::string_view word = between(notation, at, end); word == "|")
      choices_.emplace_back();
    else
      add_parts(word, choices_.back());
    at = end + 1;
  }
  least_ = std::numeric_limits<std::size_t>::max();
  for (const Parts& parts : choices_) {
    std::size_t sum = 0;
    for (const Part& part : parts) {
      apart_ = apart_ || (part.kind == Part::inner && sum > 0);
      sum += part.run_of.min + part.literal.size();
    }
    least_ = std::min(least_, sum);
  }
}

CharRun Shape::first() const {
  const auto first_of = [](const Parts& parts) {
    return std::find_if(parts.begin(), parts.end(),
                        [](const Part& part) { return part.kind != Part::inner; });
  };
  const Part& first = *first_of(choices_[0]);
  const bool same = std::all_of(choices_.begin(), choices_.end(), [&](const Parts& parts) {
    const Part& part = *first_of(parts);
    return part.kind == Part::run && part.run_of.chars == first.run_of.chars &&
           part.run_of.min == first.run_of.min;
  });
  return same ? first.run_of : CharRun{};
}

// The state of one match: its position, and how many gaps it may still cross.
class Shape::Reader {
 public:
  Reader(std::string_view text, std::size_t at, Runs& runs, int breaks)
      : text_(text), runs_(runs), breaks_(breaks) {
    match_.end = at;
  }

  bool read(const Part& part) {
    switch (part.kind) {
      case Part::run: return read_run(part.run_of);
      case Part::text: return read_text(part.literal);
      case Part::inner: match_.inner = match_.end;
    }
    return true;
  }
  const Match& match() const { return match_; }

 private:
  bool hop() {
    const std::size_t next = breaks_ > 0 ? over_gap(text_, match_.end) : match_.end;
    if (next == match_.end) return false;
    --breaks_;
    match_.end = next;
    return true;
  }

  bool read_text(std::string_view literal) {
    const auto is_next = [&](char c) { return match_.end < text_.size() && text_[match_.end] == c; };
    for (const char c : literal) {
      if (!is_next(c) && !(hop() && is_next(c))) return false;
      ++match_.end;
    }
    return true;
  }

  // A run that goes on beyond its greatest length does not fit.
  bool read_run(const CharRun& run) {
    std::size_t taken = 0;
    do {
      const std::size_t begin = match_.end;
      match_.end = runs_.end(run.chars, begin);
      taken += match_.end - begin;
    } while (taken < run.min && hop());
    return taken >= run.min && taken <= run.max;
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
