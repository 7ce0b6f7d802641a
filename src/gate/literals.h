// Finds many literals in one text. A small table of their first three characters tells where one can begin,
// and most text is passed over; there, those that begin so are compared, each in one step. All tables
// together stay in the nearest cache: this is what keeps the search for secrets fast on any input.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn::gate {

// Thread-safe: const after construction.
class Literals {
 public:
  struct Literal {
    std::string_view text;  // two bytes or more; outlives the table
    bool any_case = true;
  };
  explicit Literals(const std::vector<Literal>& literals);

  // The first place from `at` on where a literal may begin; the text's size when there is none.
  std::size_t candidate(std::string_view text, std::size_t at) const;

  // Calls `take(index)` for each literal that begins at text[at], the longer before the shorter.
  template <class Take>
  void at(std::string_view text, std::size_t at, Take&& take) const {
    text.remove_prefix(at);
    const std::uint64_t here = word(text);
    const std::size_t group = group_of(begin_of(here));
    for (std::size_t i = groups_[group]; i < groups_[group + 1]; ++i)
      if (((heads_[i].value ^ here) & heads_[i].mask) == 0 && goes_on(tails_[i], text)) take(tails_[i].index);
  }

 private:
  // The first eight characters, compared where `mask` has bits.
  struct Head {
    std::uint64_t value = 0, mask = 0;
  };
  struct Tail {
    std::string_view text;  // the whole of it
    bool any_case = true;
    std::uint16_t index = 0;
  };

  // The first eight characters, as many as there are; the first one in the lowest bits.
  static std::uint64_t word(std::string_view text) {
    std::uint64_t out = 0;
    if constexpr (std::endian::native == std::endian::little) {
      if (text.size() >= sizeof out) {
        text.copy(reinterpret_cast<char*>(&out), sizeof out);
        return out;
      }
    }
    for (std::size_t i = 0; i < sizeof out && i < text.size(); ++i)
      out |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
    return out;
  }
  // Five bits of each of the first three characters: letters are the same in either case.
  static std::uint32_t begin_of(std::uint64_t word) {
    return static_cast<std::uint32_t>((word & 31) << 10 | (word >> 8 & 31) << 5 | (word >> 16 & 31));
  }
  // Where the literals of a beginning stand, perhaps with those of another.
  static std::size_t group_of(std::uint32_t begin) { return begin * 2654435761u >> 21; }
  // Whether what stands behind the first eight characters is of the literal, too.
  static bool goes_on(const Tail& tail, std::string_view text) {
    return tail.text.size() <= sizeof(Head::value) || is_at(tail, text);
  }
  static bool is_at(const Tail& tail, std::string_view text);

  std::array<std::uint32_t, 1024> begins_{};  // by the first two characters; a bit for the third
  std::array<std::uint16_t, 2049> groups_{};  // where in `heads_` each begins
  std::vector<Head> heads_;                   // a literal of two characters is in many groups
  std::vector<Tail> tails_;                   // as `heads_`
};

}  // namespace cairn::gate
