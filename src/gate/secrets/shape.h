// The form of a token in a small notation: the parts that follow its literal.
//
//   u20+          at least twenty characters of a kind; u20 exactly, u20-26 between. Kinds: d digits, x hex,
//                 X hex in any case, U capitals and digits, l small letters and digits, a letters and digits,
//                 w those and _, u those and -, n those and ., e those and =, q those of n and ~, b base64,
//                 B base64 of any alphabet, c per cent codes, h crypt(3)'s, s its salts, p padding,
//                 v anything visible, f the same without a colon, g what is between an id and its secret
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

// Skips the characters between the halves of a token that was broken over two lines, or of strings that are
// joined: quotes, `+` or `.` between strings, a line break, the sign of a patch, indentation. Returns `at`
// itself when the text does not go on like that.
std::size_t over_gap(std::string_view text, std::size_t at);

// So many characters of one kind.
struct CharRun {
  Chars chars = Chars::alnum;
  std::size_t min = 0, max = 0;
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
  // What fits at text[at]. With `breaks` it may go over three gaps.
  std::optional<Match> match(std::string_view text, std::size_t at, Runs& runs, bool breaks) const;

  // What every text that fits begins with, as far as it is known.
  CharRun first() const;
  // Whether other characters are between the literal and the secret.
  bool is_apart() const { return apart_; }
  // Characters of the shortest text that fits.
  std::size_t least() const { return least_; }

 private:
  struct Part {
    enum Kind { run, text, inner } kind = run;
    CharRun run_of = {};
    std::string_view literal = {};
  };
  using Parts = std::vector<Part>;
  class Reader;
  static void add_parts(std::string_view word, Parts& parts);

  std::vector<Parts> choices_;
  std::size_t least_ = 0;
  bool apart_ = false;
};

}  // namespace cairn::gate
