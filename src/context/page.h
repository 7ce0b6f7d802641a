// A text that grows within a budget of tokens and characters, and the fence around it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace cairn::context {

// Stored text as data: what a person sees of it, and no line of it that could pass for a heading or a record
// of the page or for another speaker of the conversation. Such lines are quoted: "| # Open".
std::string as_data(std::string_view text);

// A stored name, without tags, that keeps to its field of a heading: a dot in the middle of the line, which
// parts the fields, is a full stop, and blanks of other scripts are '_'.
std::string as_name(std::string_view text);

class Page {
 public:
  // `last` stands at the end whatever is added; its room is kept.
  Page(std::size_t max_tokens, std::size_t max_characters, std::string_view last = "");

  // Appends `text`, cleaned and without anything that looks like a tag of the host's or of ours, if
  // everything still fits in `up_to_tokens` (the whole budget when 0). False: it was left out.
  bool add(std::string_view text, std::size_t up_to_tokens = 0);
  std::size_t budget() const { return max_tokens_; }
  // Bytes of ASCII that still fit.
  std::size_t room() const { return 4 * (max_tokens_ - std::min(max_tokens_, tokens_)); }

  // The page between its fences. The nonce is a keyed hash of the page: equal text has an equal fence, and
  // nobody without the key can write a text that closes it.
  std::string fenced(std::string_view key) const;

 private:
  std::string text_;
  std::string last_;
  std::size_t tokens_ = 0;
  std::size_t characters_ = 0;
  std::size_t max_tokens_;
  std::size_t max_characters_;
};

}  // namespace cairn::context
