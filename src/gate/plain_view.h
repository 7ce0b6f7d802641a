// A text as it was before somebody escaped it: JSON's backslashes (of any depth), per cent codes, HTML's
// entities, colours of a terminal, characters of no width and of full width are undone, so that one set of
// rules finds a secret in all of them. Places found in the view are given back as places in the text.
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
  // Where the part [begin, end) of the view stands in the text, escapes of no width behind it included. Asked
  // for one part after the other: the text is read again up to there, and nothing has to be remembered.
  std::pair<std::size_t, std::size_t> raw(std::size_t begin, std::size_t end);

 private:
  struct Shift {
    std::size_t plain = 0, raw = 0;  // from here on the two run in step
  };
  std::size_t raw_offset(std::size_t plain);

  std::string_view raw_;
  std::string plain_;
  bool copied_ = false;
  Shift last_, next_;  // of what was asked for
};

}  // namespace cairn::gate
