#include <algorithm>

#include "base/text.h"
#include "gate/secrets/rules.h"
#include "gate/secrets/values.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kTooLong = 200;  // characters: nothing that long is a word or an expression

template <class Fits>
bool all_parts(std::string_view value, char separator, Fits&& fits) {
  const auto parts = split(value, separator);
  return std::all_of(parts.begin(), parts.end(), fits);
}

// user.password, getToken(x), a.b.c(x), args[0], A::b: an expression of some language, not a value.
bool is_code(std::string_view value) {
  std::size_t at = 0;
  while (at < value.size() && (is(Chars::word, value[at]) || value[at] == '$')) ++at;
  if (at == 0) return value[0] == '(';
  if (is_digit(value[0]) || at == value.size()) return value[0] == '$';
  const std::string_view sign = value.substr(at, 2);
  if (sign[0] == '[' || sign == "::" || sign == "->") return true;
  if (const std::size_t path = run_end(Chars::name, value, at); path < value.size() && value[path] == '(')
    return true;
  if (sign[0] != '.' && sign != "?.") return false;
  static constexpr CharSet kEnds("(?![;,");
  return all_parts(value, '.', [](std::string_view part) {
    return part.size() <= 4 || is_words(part.substr(0, kEnds.first_in(part)));
  });
}

// required|string|min:8: words in a row, as rules of a form are written.
bool is_rules(std::string_view value) {
  return value.find('|') != std::string_view::npos && all_parts(value, '|', [](std::string_view part) {
           const std::string_view word = part.substr(0, part.find(':'));
           return !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
         });
}

// A regular expression, rules of a form, a number of C, the address of an account in a chain, a user of
// Windows.
bool is_notation(std::string_view value) {
  static const WordList kParts("patterns");
  static constexpr CharSet kSigns("([\\");  // one of them is in every part
  if (kSigns.any_in(value) && kParts.is_in(value)) return true;
  return (value.starts_with("0x") &&
          (value.size() <= 21 || (value.size() <= 42 && is_all(Chars::any_hex, value.substr(2))))) ||
         value.starts_with("S-1-") || is_rules(value);
}

// correct horse 7 battery! A few words that make no sentence, and a digit or a sign among them; or groups of
// one length, as mail services give them out.
bool is_passphrase(std::string_view value) {
  static constexpr CharSet kOfSentences("()[]{}<>,;:.\"'`/\\|");
  static const WordList kProse("prose");  // what prose about passwords is made of
  if (value.size() < 12 || value.size() > 64 || kOfSentences.any_in(value)) return false;
  const auto words = split(value, ' ');
  if (words.size() < 3 || words.size() > 8) return false;
  bool even = true;
  for (const std::string_view word : words) {
    std::string_view letters = word;
    while (!letters.empty() && !is(Chars::alnum, letters.back())) letters.remove_suffix(1);
    if (word.empty() || strength_of(word) != Strength::none || kProse.has(letters)) return false;
    even = even && word.size() == words[0].size();
  }
  const bool marked = std::any_of(value.begin(), value.end(),
                                  [](char c) { return c != ' ' && c != '-' && !is(Chars::letter, c); });
  return marked || (even && words[0].size() >= 4);
}

// By its looks alone.
bool may_be_secret(Strength strength, Style style, std::string_view value) {
  static constexpr CharSet kBrackets("()[]{}<>");
  const auto digits = count_of(Chars::digit, value);
  const bool ascii = std::none_of(value.begin(), value.end(), [](char c) { return (c & 0x80) != 0; });
  const auto chosen = [&] { return strength == Strength::password && is_chosen(value); };
  if (style == Style::paired)
    return chosen() || (strength >= Strength::token && is_random(value) && !is_version_or_time(value));
  if (style == Style::beside || style == Style::loose)
    return strength != Strength::weak && value[0] != '-' && !kBrackets.any_in(value) &&
           value.find("**") == std::string_view::npos && !is_version_or_time(value) &&
           strength_of(value) == Strength::none &&
           (chosen() || (ascii && is_random(value)) ||
            (is_mixed_word(value) && (style == Style::beside || (!is_words(value) && mixture(value) >= 3))));
  switch (strength) {
    case Strength::password:
      if (style == Style::env) return digits < std::ssize(value) || digits >= 6;
      return is_password_like(value) && (style == Style::quoted || digits >= 3 || !is_words(value));
    case Strength::token:
      if (style == Style::env && value.size() >= 16 && digits > 0) return !is_words(value);
      return is_random(value);
    default: return value.size() >= 20 && digits > 0 && is_random(value);
  }
}

}  // namespace

bool is_secret(Strength strength, Style style, std::string_view value) {
  if (value.size() < 4) return false;
  const bool one_word = value.find(' ') == std::string_view::npos;
  if (style == Style::certain && one_word) return !is_reference(value);
  // Too long to judge, and one run of characters.
  if (value.size() > kTooLong && strength >= Strength::token && style != Style::loose)
    return run_end(Chars::token, value, 0) == value.size() && !is_reference(value);
  if (!one_word)
    return strength == Strength::password && (style == Style::quoted || style == Style::certain) &&
           is_passphrase(value) && !is_placeholder(value);
  if (!may_be_secret(strength, style, value)) return false;
  if (is_placeholder(value) || is_path(value) || is_notation(value)) return false;
  if (value[0] == '$' && is(Chars::word, value[1]) && !is_random(value)) return false;
  return style == Style::quoted || style == Style::env || !is_code(value);
}

bool is_reference(std::string_view value) {
  if (is_placeholder(value) || is_path(value) || is_notation(value) || is_code(value)) return true;
  if (CharSet("$%-@").has(value[0])) return !is_random(value);
  return run_end(Chars::name, value, 0) == value.size() && is_words(value) &&
         strength_of(value) != Strength::none;  // a label of a form
}

bool is_named_otherwise(std::string_view name, std::string_view value) {
  // A session's id that is a UUID gives no access. `pwd` in a shell is the current directory.
  return (is_uuid(value) && ends_with_nocase(name, "id")) ||
         ((value[0] == '/' || value[0] == '~') && ends_with_nocase(name, "pwd"));
}

bool is_uuid(std::string_view value) {
  if (value.size() != 36) return false;
  for (std::size_t i = 0; i < value.size(); ++i)
    if (i == 8 || i == 13 || i == 18 || i == 23 ? value[i] != '-' : !is(Chars::hex, value[i])) return false;
  return true;
}

bool is_path(std::string_view value) {
  if (value.find('/') == std::string_view::npos) return false;
  if (value.find("://") != std::string_view::npos) return true;
  static constexpr CharSet kSigns("*{}$<");
  return all_parts(value, '/', [](std::string_view part) {
    // /users/:id, host:port
    return part.size() <= 3 || is_words(part) || kSigns.any_in(part) ||
           (part.size() < 32 && part.find(':') != std::string_view::npos);
  });
}

}  // namespace cairn::gate
