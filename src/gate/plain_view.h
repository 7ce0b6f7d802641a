// A text with its escapes decoded: JSON backslashes (of any depth), per cent codes, HTML entities, terminal
// colours, zero-width and full-width characters. So one set of rules finds a secret in all of these forms. A
// position in the view can be mapped back to the original text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::gate {

class PlainView {
 public:
  // Borrows `text`, which must outlive the view. Linear. Text without an escape is not copied.
  explicit PlainView(std::string_view text);
  PlainView(const PlainView&) = delete;

  std::string_view text() const { return copied_ ? std::string_view(plain_) : raw_; }
  // The position in the text of the part [begin, end) of the view, with zero-width escapes after it. Call it
  // for parts in ascending order: it reads the text again from the last position, so that no table is needed.
  std::pair<std::size_t, std::size_t> raw(std::size_t begin, std::size_t end);

 private:
  struct Shift {
    std::size_t plain = 0, raw = 0;  // from here on the positions advance together
  };
  std::size_t raw_offset(std::size_t plain);

  std::string_view raw_;
  std::string plain_;
  bool copied_ = false;
  Shift last_, next_;  // around the last requested part
};

}  // namespace cairn::gate
