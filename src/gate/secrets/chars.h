// The kinds of characters in secrets and around them, and the runs of such characters in a text.
//
// The last run is remembered, so that many searches inside one long run read it only once. This keeps the
// search linear, even on text that consists of beginnings of secrets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"

namespace cairn::gate {

enum class Chars : std::uint8_t {
  digit,
  hex,  // lower case
  any_hex,
  upper,  // and digits
  lower,  // and digits
  letter,
  alnum,
  word,        // letters, digits, _
  url,         // and -
  name,        // and .
  dotted,      // and =
  tilde,       // as `name`, and ~
  base64,      // letters, digits, + /
  any_base64,  // and _ - =
  code,        // base64 of either alphabet: letters, digits, + / _ -
  coded,       // letters, digits, % + / = -
  crypt,       // letters, digits, . /
  salt,        // and = , _ -
  padding,     // =
  token,       // letters, digits and signs that occur in tokens
  visible,     // neither blank nor quote
  bare,        // nor backslash: the same in every escaped form
  field,       // as `visible`, without :
  plain_value,
  in_double,  // up to the quote or the end of the line
  in_single,
  in_back,
  blank,      // blank or tab
  gap,        // may occur between the lines of a broken token
  divider,    // may occur between the id of a key and its secret
  user_info,  // of an address
  count,
};

namespace detail {
extern const std::array<std::uint32_t, 256> kKinds;  // see kinds_of
}

// A set of kinds: a bit for each.
using Kinds = std::uint32_t;
constexpr Kinds only(Chars chars) {
  return Kinds{1} << static_cast<unsigned>(chars);
}
// All kinds of a character.
inline Kinds kinds_of(char c) {
  return detail::kKinds[static_cast<unsigned char>(c)];
}
inline bool is(Chars chars, char c) {
  return (kinds_of(c) & only(chars)) != 0;
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

// A small set of characters.
class CharSet {
 public:
  constexpr explicit CharSet(std::string_view characters) {
    for (const char c : characters) has_[static_cast<unsigned char>(c)] = true;
  }
  constexpr void add_nocase(char c) {
    has_[static_cast<unsigned char>(c)] = true;
    const char other = static_cast<char>(c ^ 0x20);
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') has_[static_cast<unsigned char>(other)] = true;
  }
  constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }
  constexpr bool operator()(char c) const { return has(c); }
  // The position of the first of them; npos when there is none. Faster than find_first_of, which calls a
  // function for each character.
  constexpr std::size_t first_in(std::string_view text, std::size_t at = 0) const {
    while (at < text.size() && !has(text[at])) ++at;
    return at < text.size() ? at : std::string_view::npos;
  }
  constexpr bool any_in(std::string_view text) const { return first_in(text) != std::string_view::npos; }

 private:
  std::array<bool, 256> has_{};
};

// Whether a text ends with `end`, ignoring case. `end` is in lower case.
inline bool ends_with_nocase(std::string_view text, std::string_view end) {
  // Usually the last letter decides.
  return text.size() >= end.size() && (text.back() | 0x20) == (end.back() | 0x20) &&
         starts_with_nocase(text.substr(text.size() - end.size()), end);
}

// The number of these characters in a text.
inline std::ptrdiff_t count_of(Chars chars, std::string_view text) {
  return std::count_if(text.begin(), text.end(), [chars](char c) { return is(chars, c); });
}

// The end of the run of `chars` at text[at]; `at` itself when text[at] is not one of them.
inline std::size_t run_end(Chars chars, std::string_view text, std::size_t at) {
  for (; at + 4 <= text.size(); at += 4) {
    const Kinds one = kinds_of(text[at]) & only(chars), two = one & kinds_of(text[at + 1]),
                three = two & kinds_of(text[at + 2]), four = three & kinds_of(text[at + 3]);
    if (four == 0) return at + (one != 0) + (two != 0) + (three != 0);
  }
  while (at < text.size() && is(chars, text[at])) ++at;
  return at;
}

inline bool is_all(Chars chars, std::string_view text) {
  return run_end(chars, text, 0) == text.size();
}

// The end of at most `most` characters at text[at] that `fits` accepts.
template <class Fits>
std::size_t skip(std::string_view text, std::size_t at, std::size_t most, const Fits& fits) {
  const std::size_t end = std::min(text.size(), at + std::min(most, text.size()));
  while (at < end && fits(text[at])) ++at;
  return at;
}
// The beginning of those that end at `at`.
template <class Fits>
std::size_t skip_back(std::string_view text, std::size_t at, std::size_t most, const Fits& fits) {
  const std::size_t begin = at - std::min(at, most);
  while (at > begin && fits(text[at - 1])) --at;
  return at;
}

// Removes the number at the beginning of `text` from it; 0 when there is none.
inline std::size_t read_number(std::string_view& text) {
  std::size_t out = 0;
  for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1))
    out = out * 10 + static_cast<std::size_t>(text[0] - '0');
  return out;
}

// text[begin, end)
constexpr std::string_view between(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin);
}

// For one search that moves forward through the text.
class Runs {
 public:
  // Borrows `text`.
  explicit Runs(std::string_view text) : text_(text) {}

  // As the function run_end().
  std::size_t end(Chars chars, std::size_t at) {
    const Run& known = ahead_[static_cast<std::size_t>(chars)];
    return at >= known.begin && at < known.end ? known.end : read_end(chars, at);
  }
  // The beginning of the run that ends at `at`; `at` itself when the character before it is not one of them.
  std::size_t begin(Chars chars, std::size_t at);

 private:
  struct Run {
    std::size_t begin = 0, end = 0;
  };
  std::size_t read_end(Chars chars, std::size_t at);
  using Known = std::array<Run, static_cast<std::size_t>(Chars::count)>;
  std::string_view text_;
  Known ahead_{};   // [begin, end): each place in it runs to `end`
  Known behind_{};  // (begin, end]: the run that ends at each place in it begins at `begin`
};

}  // namespace cairn::gate
