// How a text becomes terms of the search index: words in lower case without accents; identifiers whole and in
// parts; Chinese, Japanese and Korean in pairs of characters.
// `parseHeader`, `parse_header` and `ParseHeader` each give "parse", "header" and, at the position of the
// first, "parseheader". Pure functions in linear time. Accepts any bytes: invalid UTF-8 separates words. The
// index stores these terms: a change here needs a migration that fills the index again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::store {

// What the terms are for. The last character of a run of ideographs is a term of its own in a document, so
// that a single character can be found. In a query it is one only when no other ideograph is next to it.
enum class TermsOf { document, query };

struct Term {
  std::string text;
  std::size_t start = 0;  // its place in the text, in bytes
  std::size_t end = 0;
  bool whole = false;  // an identifier after its parts; it has the position of its first part
};

class TermReader {
 public:
  TermReader(std::string_view text, TermsOf mode) : text_(text), mode_(mode) {}
  // Reads the next term; false at the end.
  bool next(Term& term);

 private:
  struct Char {
    char32_t code = 0;
    std::size_t bytes = 1;
    enum Class { separator, joiner, lower, upper, other, mark, ideograph } kind = separator;
  };
  Char at(std::size_t place) const;
  void read_word();
  bool next_plain(Term& term);
  bool next_pair(Term& term);
  std::size_t part_end(std::size_t from) const;
  bool fill(Term& term, std::size_t start, std::size_t end, bool whole) const;

  std::string_view text_;
  TermsOf mode_;
  std::size_t at_ = 0;          // what is not read yet
  std::size_t word_start_ = 0;  // the word whose parts are being given
  std::size_t word_end_ = 0;
  std::size_t run_end_ = std::string_view::npos;  // of ideographs
  bool give_whole_ = false;
};

}  // namespace cairn::store
