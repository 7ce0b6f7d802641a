// Finds many literals in one pass, whatever the letter case (Aho-Corasick). One table look-up a byte, on any
// input: this is what keeps the search for secrets fast, since most text holds none of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cairn::gate {

// Thread-safe: const after construction.
class Literals {
 public:
  // Literals are ASCII; the same one may come several times.
  explicit Literals(const std::vector<std::string_view>& literals);

  using State = std::uint16_t;
  static constexpr State kStart = 0;
  // Reads on from text[at] until literals end. Returns where, or npos when none does; `state` goes with it.
  std::size_t next(std::string_view text, std::size_t at, State& state) const;
  // The literals (by their index) that end where `state` was reached, the longest first.
  std::span<const std::uint16_t> ending(State state) const {
    const std::size_t index = state & kIndex;
    return std::span(ending_).subspan(ending_at_[index], ending_at_[index + 1] - ending_at_[index]);
  }

 private:
  static constexpr State kEnds = 0x8000, kIndex = 0x7fff;
  static constexpr std::size_t kRow = 64;  // more than the kinds of bytes in all literals

  std::array<std::uint8_t, 256> class_of_{};  // bytes that no literal holds are class 0
  std::vector<State> next_;
  std::vector<std::uint16_t> ending_;     // of all states, one after the other
  std::vector<std::uint32_t> ending_at_;  // where each state's begin
};

}  // namespace cairn::gate
