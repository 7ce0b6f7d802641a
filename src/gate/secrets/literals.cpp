#include "gate/secrets/literals.h"

#include <algorithm>
#include <string>

#include "base/result.h"
#include "base/text.h"

namespace cairn::gate {

Literals::Literals(const std::vector<Literal>& literals) : literals_(literals) {
  struct Entry {
    std::uint32_t begin = 0;
    std::size_t index = 0;
  };
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const std::string_view text = literals[i].text;
    CAIRN_ASSERT(text.size() >= 2);
    const std::uint32_t begin = begin_of(padded(text));
    // A literal of two characters may be followed by anything: it is entered for each third character.
    for (std::uint32_t third = 0; third < 32; ++third)
      if (text.size() == 2 || third == (begin & 31)) entries.push_back({(begin & ~31u) | third, i});
  }
  // By group, the longer literals first, as each() promises.
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return std::pair(group_of(a.begin), literals[b.index].text.size()) <
           std::pair(group_of(b.begin), literals[a.index].text.size());
  });
  for (const auto& [begin, index] : entries) {
    const auto& [text, any_case, not_after, before] = literals[index];
    std::string mask;
    for (const char c : text.substr(0, sizeof(Head::mask)))
      mask += static_cast<char>(any_case && is(Chars::letter, c) ? 0xdf : 0xff);
    const std::uint64_t third = text.size() == 2 ? 31 : 0;
    heads_.push_back({(padded(text) & padded(mask)) | (begin & third) << 16, padded(mask) | third << 16});
    tails_.push_back({static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(text.size()), not_after,
                      before != 0 ? before : kAny});
    begins_[begin >> 5] |= 1u << (begin & 31);
    if (not_after == 0) inside_[begin >> 5] |= 1u << (begin & 31);
    ++groups_[group_of(begin) + 1];
  }
  heads_.resize(heads_.size() + kAtOnce, {1, 0});  // these match nothing
  for (std::size_t i = 1; i < groups_.size(); ++i)
    groups_[i] = static_cast<std::uint16_t>(groups_[i] + groups_[i - 1]);
}

std::uint64_t Literals::padded(std::string_view text) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < sizeof out && i < text.size(); ++i)
    out |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
  return out;
}

bool Literals::goes_on(const Tail& tail, std::string_view text, std::size_t at) const {
  text.remove_prefix(at);
  const Literal& literal = literals_[tail.index];
  return literal.any_case ? starts_with_nocase(text, literal.text) : text.starts_with(literal.text);
}

}  // namespace cairn::gate
