#include "gate/literals.h"

#include <deque>

#include "base/result.h"
#include "base/text.h"

namespace cairn::gate {

Literals::Literals(const std::vector<std::string_view>& literals) {
  std::size_t classes = 1;
  for (const std::string_view literal : literals)
    for (const char c : ascii_lower(literal)) {
      std::uint8_t& known = class_of_[static_cast<unsigned char>(c)];
      if (known == 0) known = static_cast<std::uint8_t>(classes++);
    }
  for (unsigned char c = 'A'; c <= 'Z'; ++c) class_of_[c] = class_of_[c + ('a' - 'A')];

  CAIRN_ASSERT(classes <= kRow);

  std::vector<std::vector<std::uint16_t>> ending;
  const auto add_state = [&] {
    CAIRN_ASSERT(ending.size() < kIndex);
    next_.resize(next_.size() + kRow, kStart);
    ending.emplace_back();
    return static_cast<State>(ending.size() - 1);
  };
  add_state();
  // Level by level, so that the states near the start, where most text stays, lie together in memory.
  std::vector<State> reached(literals.size(), kStart);
  std::size_t left = literals.size();
  for (std::size_t depth = 0; left > 0; ++depth)
    for (std::size_t i = 0; i < literals.size(); ++i) {
      if (depth >= literals[i].size()) continue;
      const std::size_t edge = reached[i] * kRow + class_of_[static_cast<unsigned char>(literals[i][depth])];
      if (next_[edge] == kStart) {
        const State added = add_state();
        next_[edge] = added;
      }
      reached[i] = next_[edge];
      if (depth + 1 < literals[i].size()) continue;
      ending[reached[i]].push_back(static_cast<std::uint16_t>(i));
      --left;
    }

  // Breadth first: a state's missing edges are those of its longest proper suffix, which is complete by then.
  std::vector<State> suffix(ending.size(), kStart);
  std::deque<State> waiting;
  for (std::size_t c = 0; c < kRow; ++c)
    if (next_[c] != kStart) waiting.push_back(next_[c]);
  while (!waiting.empty()) {
    const State state = waiting.front();
    waiting.pop_front();
    const auto& shorter = ending[suffix[state]];
    ending[state].insert(ending[state].end(), shorter.begin(), shorter.end());
    for (std::size_t c = 0; c < kRow; ++c) {
      State& edge = next_[state * kRow + c];
      const State fallback = next_[suffix[state] * kRow + c];
      if (edge == kStart) {
        edge = fallback;
      } else {
        suffix[edge] = fallback;
        waiting.push_back(edge);
      }
    }
  }
  for (State& state : next_)
    if (!ending[state].empty()) state |= kEnds;
  for (const auto& list : ending) {
    ending_at_.push_back(static_cast<std::uint32_t>(ending_.size()));
    ending_.insert(ending_.end(), list.begin(), list.end());
  }
  ending_at_.push_back(static_cast<std::uint32_t>(ending_.size()));
}

std::size_t Literals::next(std::string_view text, std::size_t at, State& state) const {
  const State* const table = next_.data();
  const std::uint8_t* const class_of = class_of_.data();
  std::size_t now = state & kIndex;
  for (const char *byte = text.data() + at, *end = text.data() + text.size(); byte != end; ++byte) {
    const State next = table[now * kRow + class_of[static_cast<unsigned char>(*byte)]];
    now = next & kIndex;
    if (next & kEnds) {
      state = next;
      return static_cast<std::size_t>(byte - text.data()) + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace cairn::gate
