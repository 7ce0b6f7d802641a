// A text that grows within a budget of tokens and characters, and its fence.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace cairn::context {

// Stored text as data: only visible characters, and no line that looks like a heading, a record or another
// speaker. Such lines are quoted: "| # Open".
std::string as_data(std::string_view text);

// A stored name for a field of a heading: without tags, dots that separate fields become full stops, unusual
// blanks become '_'.
std::string as_name(std::string_view text);

class Page {
 public:
  // `last` is always at the end; space is reserved for it.
  Page(std::size_t max_tokens, std::size_t max_characters, std::string_view last = "",
       bool counts_bytes = false);

  // Appends `text`, cleaned and without tags, if everything still fits in `up_to_tokens` (0: the whole
  // budget). False: it did not fit.
  bool add(std::string_view text, std::size_t up_to_tokens = 0);
  std::size_t budget() const { return max_tokens_; }
  // Bytes of ASCII that still fit.
  std::size_t room() const { return 4 * (max_tokens_ - std::min(max_tokens_, tokens_)); }

  // The page inside its fence. The fence contains a keyed hash of the page: equal text has an equal fence,
  // and without the key no text can be written that closes it.
  std::string fenced(std::string_view key) const;

 private:
  std::string text_;
  std::string last_;
  std::size_t tokens_ = 0;
  std::size_t characters_ = 0;
  std::size_t max_tokens_;
  std::size_t max_characters_;
  bool counts_bytes_;
};

}  // namespace cairn::context
