#include "gate/literals.h"

#include <algorithm>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "gate/char_runs.h"

namespace cairn::gate {

Literals::Literals(const std::vector<Literal>& literals) {
  std::vector<std::pair<std::size_t, Tail>> grouped;
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const auto& [text, any_case] = literals[i];
    CAIRN_ASSERT(text.size() >= 2);
    const std::uint32_t begin = begin_of(word(text));
    for (std::uint32_t third = 0; third < 32; ++third)
      if (text.size() == 2 || third == (begin & 31)) {
        begins_[begin >> 5] |= 1u << third;
        grouped.push_back(
            {group_of((begin & ~31u) | third), {text, any_case, static_cast<std::uint16_t>(i)}});
      }
  }
  std::stable_sort(grouped.begin(), grouped.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, b.second.text.size()) < std::pair(b.first, a.second.text.size());
  });
  for (const auto& [group, tail] : grouped) {
    std::string mask;
    for (const char c : tail.text.substr(0, sizeof(Head::mask)))
      mask += static_cast<char>(tail.any_case && is(Chars::letter, c) ? 0xdf : 0xff);
    heads_.push_back({word(tail.text), word(mask)});
    tails_.push_back(tail);
    ++groups_[group + 1];
  }
  for (std::size_t i = 1; i < groups_.size(); ++i)
    groups_[i] = static_cast<std::uint16_t>(groups_[i] + groups_[i - 1]);
}

std::size_t Literals::candidate(std::string_view text, std::size_t at) const {
  if (at + 2 >= text.size()) return std::min(at, text.size());  // what begins there has two characters
  const char* const end = text.data() + text.size();
  const char* byte = text.data() + at;
  std::uint32_t seen = 0;  // five bits of each character, the last ones lowest
  const auto read = [&] { seen = seen << 5 | (static_cast<unsigned char>(*byte++) & 31); };
  const auto fits = [&] { return (begins_[seen >> 5 & 1023] >> (seen & 31) & 1) != 0; };
  const auto here = [&] { return static_cast<std::size_t>(byte - text.data()) - 3; };
  read();
  read();
  for (; end - byte >= 2;) {
    read();
    if (fits()) return here();
    read();
    if (fits()) return here();
  }
  if (byte < end) {
    read();
    if (fits()) return here();
  }
  return text.size() - 2;
}

bool Literals::is_at(const Tail& tail, std::string_view text) {
  return tail.any_case ? starts_with_nocase(text, tail.text) : text.starts_with(tail.text);
}

}  // namespace cairn::gate
