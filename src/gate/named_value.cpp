#include "gate/named_value.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "gate/char_runs.h"
#include "gate/letter_pairs.h"
#include "gate/secret_value.h"
#include "gate/shape.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kTooLong = 200;  // characters: nothing that long is a word or an expression

bool is_alnum(char c) {
  return is(Chars::alnum, c);
}

// user.password, getToken(x), a.b.c(x), args[0], A::b: an expression of some
// language, not a value.
bool is_code(std::string_view value) {
  std::size_t at = 0, path = 0;
  const auto is_of_name = [](char c) { return is(Chars::word, c) || c == '$'; };
  while (at < value.size() && is_of_name(value[at])) ++at;
  if (at == 0) return value[0] == '(' || ((value[0] == '&' || value[0] == '*') && is_words(value.substr(1)));
  if (is_digit(value[0])) return false;
  if (at == value.size()) return value[0] == '$';
  if (value[at] == '[' || value.substr(at, 2) == "::" || value.substr(at, 2) == "->") return true;
  for (path = at; path < value.size() && (is_of_name(value[path]) || value[path] == '.');) ++path;
  if (path < value.size() && value[path] == '(') return true;
  if (value[at] != '.' && value.substr(at, 2) != "?.") return false;
  static constexpr CharSet kEnds("(?![;,");
  const auto parts = split(value, '.');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.size() <= 4 || is_words(part.substr(0, kEnds.first_in(part)));
  });
}

// required|string|min:8: words in a row, as rules are written.
bool is_rules(std::string_view value) {
  if (value.find('|') == std::string_view::npos) return false;
  const auto parts = split(value, '|');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const std::string_view word = part.substr(0, part.find(':'));
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return c == '_' || (is(Chars::lower, c) && !is_digit(c));
    });
  });
}

// A regular expression, rules of a form, a number of C, the address of an
// account in a chain, a user of Windows.
bool is_notation(std::string_view value) {
  static constexpr auto kParts =
      std::to_array<std::string_view>({"(?", "\\.", "[0-9", "[a-z", "[A-Z", "[^", "\\d", "\\w", "\\s"});
  static constexpr CharSet kSigns("([\\");  // one of them is in every part
  if (std::any_of(value.begin(), value.end(), [](char c) { return kSigns.has(c); }))
    for (const std::string_view part : kParts)
      if (value.find(part) != std::string_view::npos) return true;
  const auto only = [&](Chars chars) {
    return std::all_of(value.begin() + 2, value.end(), [&](char c) { return c == '-' || is(chars, c); });
  };
  return (value.starts_with("0x") && (value.size() <= 21 || (value.size() <= 42 && only(Chars::any_hex)))) ||
         (value.starts_with("S-1-") && only(Chars::digit)) || is_rules(value);
}

// A session's id that is a UUID names it and opens nothing; one that does
// stands in a cookie.
bool is_plain_id(std::string_view name, std::string_view value) {
  if (value.size() != 36 || !ends_with_nocase(name, "id")) return false;
  Runs runs(value);
  static const Shape kUuid("@");
  return kUuid.match(value, 0, runs, false).has_value();
}

// What a shell calls pwd is where it stands.
bool is_file_or_directory(std::string_view name, std::string_view value) {
  return (value[0] == '/' || value[0] == '~') && ends_with_nocase(name, "pwd");
}

// What prose about passwords is made of.
constexpr auto kProse = std::to_array<std::string_view>(
    {"a",       "an",       "and",      "are",     "as",        "at",         "be",        "by",
     "can",     "cannot",   "char",     "chars",   "character", "characters", "change",    "choose",
     "confirm", "contain",  "contains", "create",  "current",   "digit",      "digits",    "do",
     "does",    "enter",    "error",    "expired", "field",     "for",        "forgot",    "forgotten",
     "from",    "has",      "have",     "hide",    "if",        "in",         "incorrect", "invalid",
     "is",      "it",       "least",    "letter",  "letters",   "login",      "long",      "match",
     "max",     "maximum",  "min",      "minimum", "missing",   "more",       "must",      "name",
     "need",    "needs",    "new",      "no",      "not",       "number",     "of",        "old",
     "on",      "only",     "or",       "please",  "repeat",    "required",   "reset",     "see",
     "set",     "short",    "should",   "show",    "sign",      "strong",     "symbol",    "than",
     "that",    "the",      "this",     "to",      "too",       "type",       "update",    "use",
     "user",    "username", "value",    "was",     "weak",      "will",       "with",      "without",
     "wrong",   "you",      "your"});

// correct horse 7 battery! A few words that make no sentence, and a digit or a
// sign among them; or groups of one length, as mail services give them out.
bool is_passphrase(std::string_view value) {
  if (value.size() < 12 || value.size() > 64) return false;
  static constexpr CharSet kOfSentences("()[]{}<>,;:.\"'`/\\|");
  bool marked = false, even = true;
  for (const char c : value) {
    if (c < ' ' || c > '~' || kOfSentences.has(c)) return false;
    marked = marked || (c != ' ' && c != '-' && !is(Chars::letter, c));
  }
  const auto words = split(value, ' ');
  if (words.size() < 3 || words.size() > 8) return false;
  for (const std::string_view word : words) {
    std::string bare = ascii_lower(word);
    while (!bare.empty() && !is_alnum(bare.back())) bare.pop_back();
    if (word.empty() || strength_of(word) != Strength::none ||
        std::find(kProse.begin(), kProse.end(), bare) != kProse.end())
      return false;
    even = even && word.size() == words[0].size();
  }
  return marked || (even && words[0].size() >= 4);
}

bool is_ascii(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// By its looks alone.
bool may_be_secret(Strength strength, Style style, std::string_view value) {
  static constexpr CharSet kBrackets("()[]{}<>");
  const auto digits = std::count_if(value.begin(), value.end(), [](char c) { return is_digit(c); });
  const auto chosen = [&] { return strength == Strength::password && is_chosen(value); };
  switch (style) {
    case Style::paired:
      return chosen() || ((strength == Strength::password || (strength == Strength::token && digits > 0)) &&
                          is_random(value));
    case Style::beside:
    case Style::loose:
      return strength != Strength::weak && value[0] != '-' && !kBrackets.any_in(value) &&
             value.find("**") == std::string_view::npos && !is_version_or_time(value) &&
             strength_of(value) == Strength::none &&
             (chosen() || (value.size() >= 12 && is_random(value) && is_ascii(value)) ||
              (is_mixed_word(value) &&
               (style == Style::beside || (!is_words(value) && mixture(value) >= 3))));
    default: break;
  }
  switch (strength) {
    case Strength::password:
      if (style == Style::env) return digits < std::ssize(value) || digits >= 6;
      return is_password_like(value) && (style == Style::quoted || digits >= 3 || !is_words(value));
    case Strength::token:
      if (style == Style::env && value.size() >= 16 && digits > 0) return !is_words(value);
      return is_random(value) && (style != Style::plain || digits > 0 || value.size() >= 20);
    case Strength::weak: return value.size() >= 20 && digits > 0 && is_random(value);
    case Strength::none: break;
  }
  return false;
}

}  // namespace

bool is_secret(Strength strength, Style style, std::string_view value) {
  if (value.size() < 4) return false;
  if (style == Style::certain && value.find(' ') == std::string_view::npos) return !is_reference(value);
  // Too long to judge, and one run of characters.
  if (value.size() > kTooLong && strength >= Strength::token && style != Style::loose)
    return run_end(Chars::token, value, 0) == value.size() && !is_reference(value);
  if (value.find(' ') != std::string_view::npos)
    return strength == Strength::password && (style == Style::quoted || style == Style::certain) &&
           is_passphrase(value) && !is_placeholder(value);
  if (!may_be_secret(strength, style, value)) return false;
  if (style == Style::paired && is_version_or_time(value)) return false;
  if (is_placeholder(value) || is_path(value) || is_notation(value)) return false;
  if (value[0] == '$' && (is_alnum(value[1]) || value[1] == '_') && !is_random(value)) return false;
  return style == Style::quoted || style == Style::env || !is_code(value);
}

bool is_reference(std::string_view value) {
  if (is_placeholder(value) || is_path(value) || is_notation(value) || is_code(value)) return true;
  if (value[0] == '$' || value[0] == '%' || value[0] == '-' || value[0] == '@') return !is_random(value);
  // The name of a type, a label of a form.
  const bool word = run_end(Chars::name, value, 0) == value.size() && is_words(value);
  return (word && strength_of(value) != Strength::none) ||
         (word && is(Chars::upper, value[0]) && value.find("Str") != std::string_view::npos);
}

bool is_named_otherwise(std::string_view name, std::string_view value) {
  return is_plain_id(name, value) || is_file_or_directory(name, value);
}

bool is_unspoken(std::string_view value) {
  // abcd-efgh-ijkl-mnop, as they are given out for one program
  if (value.size() == 19 && value[4] == '-' && value[9] == '-' && value[14] == '-')
    return std::all_of(value.begin(), value.end(), [](char c) { return c == '-' || (c >= 'a' && c <= 'z'); });
  return value.size() >= 8 && value.size() <= 16 &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
         !is_words(value);
}

bool is_path(std::string_view value) {
  if (value.find('/') == std::string_view::npos) return false;
  if (value.find("://") != std::string_view::npos) return true;
  static constexpr CharSet kSigns("*{}$<");
  const auto parts = split(value, '/');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    // /users/:id, host:port
    return part.size() <= 3 || is_words(part) || kSigns.any_in(part) ||
           (part.size() < 32 && part.find(':') != std::string_view::npos);
  });
}

}  // namespace cairn::gate
