#include "gate/secrets/values.h"

#include <algorithm>
#include <bitset>

#include "base/text.h"
#include "gate/secrets/literals.h"
#include "gate/secrets/rules.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMaxLooked = 200;  // characters of a value that are judged; no word is that long

bool has_distinct(std::string_view value, int wanted) {
  std::bitset<256> seen;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (!seen.test(byte) && --wanted == 0) return true;
    seen.set(byte);
  }
  return false;
}

bool is_ascii(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) { return (c & 0x80) != 0; });
}

template <class Fits>
bool all_parts(std::string_view value, const CharSet& separators, Fits&& fits) {
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(separators.first_in(value, at), value.size());
    if (!fits(between(value, at, end))) return false;
    at = end + 1;
  }
  return true;
}

// Whether it is words, perhaps with a number behind them, without the signs that people put into passwords.
bool is_plain_words(std::string_view rest) {
  static constexpr CharSet kSigns("!@#$%^&*+=?~");
  if (kSigns.any_in(rest)) return false;
  while (!rest.empty() && is_digit(rest.back())) rest.remove_suffix(1);
  return rest.size() < 4 || is_words(rest);
}

// Whether the value calls itself a placeholder: <your-key>, changeme, my_password, ...EXAMPLE.
bool says_so(std::string_view value) {
  constexpr std::size_t kTelling = 160;  // characters in which the words are looked for
  static const WordList kStarts("placeholder-starts"), kWholes("placeholders"),
      kWordStarts("placeholder-word-starts");
  static const Literals kParts = [] {
    std::vector<Literals::Literal> all;
    for (const std::string_view text : WordList::texts("placeholder-parts")) all.push_back({text});
    return Literals(all);
  }();
  if (value.starts_with('<'))
    return value.find('>') != std::string_view::npos || is_plain_words(value.substr(1));
  if (kStarts.begins(value) > 0 || kWholes.has(value)) return true;
  // They count when the rest is words, too: my_password, not my_Str0ng!Pass
  if (const std::size_t size = kWordStarts.begins(value); size > 0 && is_plain_words(value.substr(size)))
    return true;
  bool found = false;
  kParts.each(value.substr(0, kTelling), [&](std::size_t, std::size_t) {
    found = true;
    return kTelling;
  });
  return found;
}

// Lantern_4711x: a word, a sign, a number and one more letter. A name with a number (item_4711) ends with the
// number, so it does not fit.
bool is_word_and_number(std::string_view value) {
  const std::size_t sign = run_end(Chars::letter, value, 0);
  return sign >= 4 && sign + 6 == value.size() && value[sign] == '_' && is(Chars::letter, value.back()) &&
         run_end(Chars::digit, value, sign + 1) >= sign + 5;
}

// v1.2.3, jjwt-api:0.12.3, 2026-03-02T10:21, 1000ms, 10.0.0.1
bool is_version_or_time(std::string_view value) {
  static constexpr CharSet kOfNumbers("0123456789.:-+_/TZ"), kBefore("-:_@vV");
  for (std::size_t dot = value.find('.'); dot < value.size(); dot = value.find('.', dot + 1)) {
    const std::size_t number = skip_back(value, dot, 5, is_digit);
    if (number < dot && (number == 0 || kBefore.has(value[number - 1])) && dot + 1 < value.size() &&
        is_digit(value[dot + 1]))
      return true;
  }
  if (value.empty() || !is_digit(value[0])) return false;
  const std::size_t end = skip(value, 0, value.size(), kOfNumbers);
  return value.size() - end <= 3 && is_all(Chars::letter, value.substr(end));  // a unit may follow
}

// user.password, getToken(x), a.b.c(x), args[0], A::b: an expression of some language, not a value.
bool is_code(std::string_view value) {
  const std::size_t at = skip(value, 0, value.size(), [](char c) { return is(Chars::word, c) || c == '$'; });
  if (at == 0) return value[0] == '(';
  if (is_digit(value[0]) || at == value.size()) return value[0] == '$';
  const std::string_view sign = value.substr(at, 2);
  if (sign[0] == '[' || sign == "::" || sign == "->") return true;
  if (const std::size_t path = run_end(Chars::name, value, at); path < value.size() && value[path] == '(')
    return true;
  static constexpr CharSet kDot("."), kEnds("(?![;,");
  return (sign[0] == '.' || sign == "?.") && all_parts(value, kDot, [](std::string_view part) {
           return part.size() <= 4 || is_words(part.substr(0, kEnds.first_in(part)));
         });
}

// A regular expression, a number of C, the address of an account in a chain, a user of Windows.
bool is_notation(std::string_view value) {
  static const WordList kParts("patterns");
  static constexpr CharSet kSigns("([\\");  // one of them is in every part
  if (kSigns.any_in(value) && kParts.is_in(value)) return true;
  return value.starts_with("S-1-") || (value.starts_with("0x") && value.size() <= 42 &&
                                       (value.size() <= 21 || is_all(Chars::any_hex, value.substr(2))));
}

// Whether it is a passphrase such as "correct horse 7 battery!": a few words that make no sentence, with a
// digit or a sign among them; or groups of equal length, as mail services give them out.
bool is_passphrase(std::string_view value) {
  static constexpr CharSet kOfSentences("()[]{}<>,;:.\"'`/\\|");
  static const WordList kProse("prose");  // what prose about passwords is made of
  if (value.size() < 12 || value.size() > 64 || kOfSentences.any_in(value)) return false;
  const auto words = split(value, ' ');
  if (words.size() < 3 || words.size() > 8) return false;
  const bool even = std::all_of(words.begin(), words.end(),
                                [&](std::string_view word) { return word.size() == words[0].size(); });
  const bool marked = std::any_of(value.begin(), value.end(),
                                  [](char c) { return c != ' ' && c != '-' && !is(Chars::letter, c); });
  return (marked || (even && words[0].size() >= 4)) &&
         std::none_of(words.begin(), words.end(), [](std::string_view word) {
           const bool known = strength_of(word) != Strength::none;
           while (!word.empty() && !is(Chars::alnum, word.back())) word.remove_suffix(1);
           return known || kProse.has(word);
         });
}

// Whether the value looks like a secret. The caller excludes placeholders, paths and code.
bool may_be_secret(Strength strength, Style style, std::string_view value) {
  static constexpr CharSet kBrackets("()[]{}<>");
  const auto digits = count_of(Chars::digit, value);
  const bool chosen = strength == Strength::password && is_chosen(value);
  if (style == Style::paired)
    return chosen || (strength >= Strength::token && is_random(value) && !is_version_or_time(value));
  if (style == Style::beside || style == Style::loose)
    return strength != Strength::weak && value[0] != '-' && !kBrackets.any_in(value) &&
           !is_version_or_time(value) && strength_of(value) == Strength::none &&
           (chosen || (is_ascii(value) && is_random(value)) ||
            (is_mixed_word(value) && (style == Style::beside || (!is_words(value) && mixture(value) >= 3))));
  switch (strength) {
    case Strength::password:
      if (style == Style::env) return digits < std::ssize(value) || digits >= 6;
      return is_password_like(value) && (style == Style::quoted || digits >= 3 || !is_words(value));
    case Strength::token:
      return is_random(value) ||
             (style == Style::env && value.size() >= 16 && digits > 0 && !is_words(value));
    default: return value.size() >= 20 && digits > 0 && is_random(value);
  }
}

}  // namespace

std::string_view bare(std::string_view secret, std::string& room) {
  if (is_all(Chars::bare, secret)) return secret;
  room.resize(std::max(room.size(), secret.size()));
  std::size_t size = 0;
  for (const char c : secret) {  // no branch: each is written, and kept or not
    room[size] = c;
    size += is(Chars::bare, c) ? 1 : 0;
  }
  return std::string_view(room).substr(0, size);
}

bool is_placeholder(std::string_view value) {
  if (value.starts_with("[secret:") || value.starts_with("[private]")) return true;
  return value.size() < 4 || !has_distinct(value, 4) || says_so(value);
}

bool is_name_of_something(std::string_view value) {
  static constexpr CharSet kDashes("-_");
  return count_of(Chars::digit, value) <= 2 && kDashes.any_in(value) && is_words(value);
}

bool is_random(std::string_view value) {
  constexpr std::size_t kMaxRandom = 4096, kLeast = 12, kLeastHex = 14;
  if (value.size() < kLeast) return false;
  value = value.substr(0, kMaxRandom);
  if (!has_distinct(value, 8) || (value.size() < kLeastHex && is_all(Chars::any_hex, value))) return false;
  return value.find_first_not_of("0123456789.-:+TZ /,") != std::string_view::npos && !is_words(value);
}

bool is_random_code(std::string_view value) {
  std::size_t small = 0, capitals = 0, numbers = 0;
  for (char before = ' '; const char c : value) {
    small += is_lower(c) ? 1 : 0;
    capitals += is_upper(c) ? 1 : 0;
    numbers += is_digit(c) && !is_digit(before) ? 1 : 0;
    before = c;
  }
  return small >= 3 && capitals >= 3 && numbers >= 2 && is_random(value) && !is_placeholder(value);
}

bool is_random_token(std::string_view value, std::size_t least, std::size_t least_hex) {
  if (value.size() < least || (value.size() < least_hex && is_all(Chars::any_hex, value))) return false;
  // users/5f3a...: a slash is one of base64, or it divides a path.
  if (value.find('/') != std::string_view::npos && (value.size() < 32 || mixture(value) < 3)) return false;
  return is_all(Chars::any_base64, value) && mixture(value) >= 2 && !is_uuid(value) && is_random(value) &&
         !is_placeholder(value);
}

int mixture(std::string_view value) {
  static constexpr CharSet kSigns("!@#$%^?~*");
  bool small = false, capital = false, digit = false, sign = false;
  for (const char c : value) {
    digit |= is_digit(c);
    small |= is_lower(c);
    capital |= is_upper(c);
    sign |= kSigns.has(c);
  }
  return small + capital + digit + 2 * sign;
}

bool is_chosen(std::string_view value) {
  if (value.size() < 8 || value.size() > 64 || count_of(Chars::digit, value) == 0) return false;
  const std::size_t sign = value.find('@');
  const bool is_mail = sign != std::string_view::npos && value.find('.', sign) != std::string_view::npos;
  return count_of(Chars::letter, value) > 1 && !is_mail && (mixture(value) >= 4 || is_word_and_number(value));
}

bool is_mixed_word(std::string_view value) {
  static constexpr CharSet kOfOthers("()[]{}<>\"'`,;|\\/:=@#");
  static const WordList kAlgorithms("algorithms");  // PBKDF2WithHmacSHA256, base64url
  if (value.size() < 8 || !is(Chars::alnum, value[0]) || kOfOthers.any_in(value)) return false;
  value = value.substr(0, kMaxLooked);
  const auto digits = count_of(Chars::digit, value);
  if (digits == 0 || count_of(Chars::letter, value) < 2 || !is_ascii(value) || is_version_or_time(value) ||
      is_placeholder(value) || kAlgorithms.is_in(value.substr(0, 64)))
    return false;
  // sunshine99: a word with a number behind it. With a single digit (server2) it is the name of one of
  // several things.
  return !is_words(value) ||
         (digits >= 2 && run_end(Chars::letter, value, 0) + static_cast<std::size_t>(digits) == value.size());
}

bool is_password_like(std::string_view value) {
  static constexpr CharSet kSymbols("!@#$%^&*+=?~");
  if (value.size() < 6) return false;
  value = value.substr(0, kMaxLooked);
  return is_random(value) ||
         (value.find(' ') == std::string_view::npos && count_of(Chars::letter, value) > 0 &&
          (kSymbols.any_in(value.substr(1)) || count_of(Chars::digit, value) > 0));
}

bool is_uuid(std::string_view value) {
  if (value.size() != 36) return false;
  for (std::size_t i = 0; i < value.size(); ++i)
    if (i == 8 || i == 13 || i == 18 || i == 23 ? value[i] != '-' : !is(Chars::hex, value[i])) return false;
  return true;
}

bool is_path(std::string_view value) {
  // The rules of a form are written in the same way: required|string|min:8
  static constexpr CharSet kDividers("/|"), kSigns("*{}$<");
  if (value.find("://") != std::string_view::npos) return true;
  return kDividers.any_in(value) && all_parts(value, kDividers, [](std::string_view part) {
           // /users/:id, host:port
           return part.size() <= 3 || is_all(Chars::digit, part) || is_words(part) || kSigns.any_in(part) ||
                  (part.size() < 32 && part.find(':') != std::string_view::npos);
         });
}

bool is_label(std::string_view value) {
  return is_all(Chars::name, value) && is_words(value) && strength_of(value) != Strength::none;
}

bool is_reference(std::string_view value) {
  if (is_placeholder(value) || is_path(value) || is_notation(value) || is_code(value)) return true;
  return CharSet("$%-@").has(value[0]) ? !is_random(value) : is_label(value);
}

bool is_secret(Strength strength, Style style, std::string_view value) {
  if (value.size() < 4) return false;
  const bool one_word = value.find(' ') == std::string_view::npos;
  if (style == Style::certain && one_word) return !is_reference(value);
  // Too long to be judged as words: it counts when it consists of characters of tokens only.
  if (value.size() > kMaxLooked && strength >= Strength::token && style != Style::loose)
    return is_all(Chars::token, value) && !is_reference(value);
  if (!one_word)
    return strength == Strength::password && (style == Style::quoted || style == Style::certain) &&
           is_passphrase(value) && !is_placeholder(value);
  if (!may_be_secret(strength, style, value) || is_placeholder(value) || is_path(value) || is_notation(value))
    return false;
  if (value[0] == '$' && is(Chars::word, value[1]) && !is_random(value)) return false;
  return style == Style::quoted || style == Style::env || !is_code(value);
}

bool is_named_otherwise(std::string_view name, std::string_view value) {
  // A session's id that is a UUID gives no access. `pwd` in a shell is the current directory.
  return (is_uuid(value) && ends_with_nocase(name, "id")) ||
         ((value[0] == '/' || value[0] == '~') && ends_with_nocase(name, "pwd"));
}

}  // namespace cairn::gate
