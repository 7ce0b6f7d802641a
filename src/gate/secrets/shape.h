// The form of a token in a small notation: the parts that follow its literal.
//
//   u20+          at least twenty characters of a kind; u20 exactly, u20-26 between. Kinds: d digits, x hex,
//                 X hex in any case, U capitals and digits, l small letters and digits, a letters and digits,
//                 w and _, u and -, n and ., e and =, q as n and ~, b base64, B base64 of any alphabet,
//                 c per cent codes, h crypt(3)'s, s its salts, p padding, v anything visible,
//                 f and no colon
//   u20+~12       and somewhere in them twelve letters and digits in a row
//   '-v1-'        these characters
//   @             a UUID
//   (             the secret begins here, not at the literal
//   A | B         the first of them that fits
//
// A part matches as much as it can and never backtracks, so a match costs a few steps for any text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "gate/secrets/chars.h"

namespace cairn::gate {

// Skips the characters between the halves of a token that was broken over lines: quotes, a sign that joins
// strings, the line break, the sign of a patch, indentation. Returns `at` itself when there is no break.
std::size_t over_break(std::string_view text, std::size_t at);

// The same for strings that are joined within a line: "..." + "..."
std::size_t over_join(std::string_view text, std::size_t at);

// So many characters of one kind, `row` letters and digits of them together.
struct CharRun {
  Chars chars = Chars::alnum;
  std::size_t min = 0, max = 0, row = 0;
};
CharRun char_run(std::string_view notation);

class Shape {
 public:
  // `notation` must outlive the shape and must be valid: it comes from our own table.
  explicit Shape(std::string_view notation);

  struct Match {
    std::optional<std::size_t> inner;  // where the secret begins, when not at the literal
    std::size_t end = 0;
  };
  // What fits at text[at]. With `breaks` it may go over the ends of three lines.
  std::optional<Match> match(std::string_view text, std::size_t at, Runs& runs, bool breaks) const;

  // What every text that fits begins with, as far as it is known.
  CharRun first() const;
  // Characters of the shortest text that fits.
  std::size_t least() const { return least_; }

 private:
  struct Part {
    enum Kind { run, text, inner } kind = run;
    CharRun run_of;
    std::string_view literal;
  };
  using Parts = std::vector<Part>;
  class Reader;
  static Parts parts_of(std::string_view word);

  std::vector<Parts> choices_;
  std::size_t least_ = 0;
};

}  // namespace cairn::gate
