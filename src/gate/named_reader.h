// What stands behind a telling name: the separator, in whatever notation, and the value that it is given.
// named_separator.cpp reads the first, named_reader.cpp the second. Only named_secrets.cpp asks it.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "gate/named_secrets.h"
#include "gate/named_value.h"

namespace cairn::gate {

inline constexpr std::size_t kMaxName = 64;
inline constexpr std::size_t kMaxValue = 1024;  // of a value: its beginning tells, and all of it goes
inline constexpr std::size_t kMaxElement = 16384;
// What reading a name and its separator costs whatever they are, in characters.
inline constexpr std::size_t kReadingName = 4, kReadingValue = 12;

// Reads on from a name, once.
class NamedReader {
 public:
  NamedReader(std::string_view text, std::size_t begin, std::size_t end, Runs& runs)
      : text_(text), runs_(runs), begin_(begin), name_end_(end), at_(end) {}

  void find(Strength strength, std::vector<Place>& found);
  std::size_t judged() const { return judged_; }

 private:
  using Span = std::pair<std::size_t, std::size_t>;
  static char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool follows(std::string_view what) const {
    return small(peek()) == what[0] && small(peek(1)) == what[1] &&
           starts_with_nocase(text_.substr(at_), what);
  }
  void skip_blanks(std::size_t max) { at_ = std::min(runs_.end(Chars::blank, at_), at_ + max); }
  bool read_sign();
  bool read_dash();
  bool read_separator();
  bool read_companion();
  bool read_host();
  bool read_default();
  void read_gap();
  bool read_scheme();
  Span read_value(Style& style);
  Span read_quoted();
  std::size_t whole_end(std::size_t end);
  std::size_t block_end(std::size_t end) const;
  bool is_env_name() const;
  std::string_view name() const { return text_.substr(begin_, name_end_ - begin_); }
  bool read_argument();
  bool read_element();
  bool read_prose(std::size_t after_name);
  void skip_wrap();
  void skip_call();
  std::size_t element_end();
  std::size_t query_end(std::size_t end) const;
  bool is_directive() const;
  bool read_second(std::size_t end, Style style);
  void find_new(Strength strength, std::vector<Place>& found);
  void find_next(Strength strength, std::vector<Place>& found);
  std::size_t behind_user(std::string_view value) const;
  bool begins_its_line() const;
  std::size_t ascii_end(std::size_t begin, std::size_t end) const;
  bool is_code_line(std::size_t end) const;
  bool is_certain(Style style, std::size_t end) const;
  std::size_t joined_end(Strength strength, std::size_t begin, std::size_t end) const;
  // A value with a blank in it means nothing unless its quotes are closed.
  bool is_whole(std::size_t end, std::string_view value) const {
    return (end < text_.size() && is_quote(text_[end])) || value.find(' ') == std::string_view::npos;
  }

  std::string_view text_;
  Runs& runs_;
  std::size_t begin_, name_end_;
  std::size_t at_;
  bool closed_quote_ = false;
  bool tight_ = false;  // no blank around the separator
  bool loose_ = false;
  bool paired_ = false;
  bool flag_ = false;     // --name
  bool element_ = false;  // <name>value</name>
  bool header_ = false;   // Authorization: SCHEME value
  bool block_ = false;    // of YAML: the value stands in the lines below
  bool said_ = false;     // the password is VALUE
  bool call_ = false;     // auth("name", "value")
  bool sign_ = false;     // = or :
  std::size_t judged_ = kReadingName;
};

}  // namespace cairn::gate
