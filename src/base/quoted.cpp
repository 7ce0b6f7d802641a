#include "base/quoted.h"

#include <algorithm>

namespace cairn {

std::string quoted(std::string_view text, char mark) {
  std::string inside(text);
  for (const char free : {mark, '\'', '"', '`'})
    if (inside.find(free) == std::string::npos) return free + inside + free;
  std::replace(inside.begin(), inside.end(), '`', '\'');
  return '`' + inside + '`';
}

bool begins_quoted(std::string_view text, std::string_view next) {
  // quoted() chose a mark that the text does not contain, so the next such mark is the closing one.
  if (text.find_first_of("'\"`") != 0) return false;
  const std::size_t end = text.find(text.front(), 1);
  return end != std::string_view::npos && text.substr(end + 1).starts_with(next);
}

}  // namespace cairn
