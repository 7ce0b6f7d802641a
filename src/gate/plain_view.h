// A text as it was before somebody escaped it: JSON's backslashes (of any depth), per cent codes, HTML's
// entities, colours of a terminal and characters of no width are undone, so that one set of rules finds a
// secret in all of them. Places found in the view are given back as places in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::gate {

class PlainView {
 public:
  // Borrows `text`, which must outlive the view. Linear. Text without an escape is not copied.
  explicit PlainView(std::string_view text);
  PlainView(const PlainView&) = delete;

  std::string_view text() const { return copied_ ? std::string_view(plain_) : raw_; }
  // Where the part [begin, end) of the view stands in the text, escapes of no width behind it included.
  std::pair<std::size_t, std::size_t> raw(std::size_t begin, std::size_t end) const;

 private:
  struct Shift {
    std::size_t plain, raw;  // from here on the two run in step
  };
  std::size_t raw_offset(std::size_t plain) const;

  std::string_view raw_;
  std::string plain_;
  bool copied_ = false;
  std::vector<Shift> shifts_;
};

}  // namespace cairn::gate
