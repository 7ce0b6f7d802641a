// The only source of randomness in a simulation: a sequence of numbers that depends on the seed.
#pragma once

#include <cstdint>
#include <vector>

namespace cairn::sim {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  // 0 to `count` - 1.
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  // From `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool percent(std::uint64_t chance) { return below(100) < chance; }
  template <class T>
  T& one_of(std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace cairn::sim
