// Finds many literals in one text. A small table of their first three characters shows where one can begin,
// so most text is skipped. At such a place the literals with that beginning are compared, each in one step.
// All tables together fit in the processor's first-level cache, which keeps the search fast on any input.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "gate/secrets/chars.h"

namespace cairn::gate {

// Thread-safe: const after construction.
class Literals {
 public:
  struct Literal {
    std::string_view text;  // two bytes or more; outlives the table
    bool any_case = true;
    // The literal does not match after a character of one of these kinds. Unless empty, the set contains
    // letters and digits.
    Kinds not_after = 0;
    // Unless 0: the literal matches only before a character of one of these kinds. The end of the text counts
    // as '\0'.
    Kinds before = 0;
  };
  explicit Literals(const std::vector<Literal>& literals);

  // Calls `take(index, at)` for each literal of the text, place by place, the longer before the shorter.
  // `take` returns a position up to which the search can skip; 0: do not skip.
  template <class Take>
  void each(std::string_view text, Take&& take) const {
    const char* const bytes = text.data();
    // Up to here eight bytes can be read at once. The last seven are searched in a loop of their own, below.
    const std::size_t body = text.size() - std::min<std::size_t>(text.size(), 7);
    std::size_t at = 0;
    while (at < body) {
      const char* byte = bytes + at;
      const char* const end = bytes + body;
      std::uint32_t seen = five_bits(byte[0]) << 5 | five_bits(byte[1]);
      std::size_t wanted = 0;
      while (byte < end && wanted <= at) {
        if (!candidate(byte, end, seen)) break;
        at = static_cast<std::size_t>(byte++ - bytes);
        const Kinds previous = at > 0 ? kinds_of(bytes[at - 1]) : 0;
        if ((previous & only(Chars::alnum)) != 0 && !is_in(inside_, seen)) continue;
        take_all(text, at, word(byte - 1), seen & 0x7fff, previous,
                 [&](std::uint16_t index) { wanted = std::max(wanted, take(index, at)); });
        ++at;
      }
      at = std::max(static_cast<std::size_t>(byte - bytes), wanted);
    }
    const std::uint64_t last = body > 0 ? word(bytes + body - 1) >> 8 : padded(text);
    while (at + 1 < text.size()) {
      const std::uint64_t here = last >> 8 * (at - body);
      std::size_t wanted = at + 1;
      if (is_in(begins_, begin_of(here)))
        take_all(text, at, here, begin_of(here), at > 0 ? kinds_of(bytes[at - 1]) : 0,
                 [&](std::uint16_t index) { wanted = std::max(wanted, take(index, at)); });
      at = wanted;
    }
  }

  // Calls `take(index)` for each literal that begins at text[at], whatever surrounds it.
  template <class Take>
  void at(std::string_view text, std::size_t at, Take&& take) const {
    const std::uint64_t here = padded(text.substr(at));
    take_all(text, at, here, begin_of(here), 0, take);
  }

 private:
  // The first eight characters, compared where `mask` has bits.
  struct Head {
    std::uint64_t value = 0, mask = 0;
  };
  static constexpr Kinds kAny = Kinds{1} << 31;  // every character is of it
  static_assert(static_cast<unsigned>(Chars::count) <= 31);
  struct Tail {
    std::uint16_t index = 0;
    std::uint16_t size = 0;
    Kinds not_after = 0, before = 0;
  };
  using Begins = std::array<std::uint32_t, 1024>;  // by the first two characters; a bit for the third

  static bool is_in(const Begins& begins, std::uint32_t seen) {
    return (begins[seen >> 5 & 1023] >> (seen & 31) & 1) != 0;
  }

  // Goes on to the first place where a literal may begin; two more characters follow each place. `seen` has
  // five bits of each character up to there, the last ones lowest.
  bool candidate(const char*& byte, const char* end, std::uint32_t& seen) const {
    for (; end - byte >= 2; ++byte) {
      seen = seen << 5 | five_bits(byte[2]);
      if (is_in(begins_, seen)) return true;
      ++byte;
      seen = seen << 5 | five_bits(byte[2]);
      if (is_in(begins_, seen)) return true;
    }
    if (byte == end) return false;
    seen = seen << 5 | five_bits(byte[2]);
    if (is_in(begins_, seen)) return true;
    ++byte;
    return false;
  }

  // A step may compare literals beyond the end of the group, too. They never match: they begin with other
  // characters.
  static constexpr std::size_t kAtOnce = 4;
  template <class Take>
  void take_all(std::string_view text, std::size_t at, std::uint64_t here, std::uint32_t begin,
                Kinds previous, Take&& take) const {
    const std::size_t group = group_of(begin);
    for (std::size_t i = groups_[group]; i < groups_[group + 1]; i += kAtOnce) {
      // No branch for each literal: the processor could not predict it.
      const Head* const head = heads_.data() + i;
      const auto fit = [&](std::size_t k) {
        return static_cast<unsigned>((here & head[k].mask) == head[k].value) << k;
      };
      static_assert(kAtOnce == 4);
      unsigned fits = fit(0) | fit(1) | fit(2) | fit(3);
      for (; fits != 0; fits &= fits - 1) {
        const Tail& tail = tails_[i + static_cast<unsigned>(std::countr_zero(fits))];
        const std::size_t end = at + tail.size;
        const Kinds next = end < text.size() ? kinds_of(text[end]) : kinds_of('\0');
        if (((previous & tail.not_after) == 0) & (((next | kAny) & tail.before) != 0) &&
            (tail.size <= sizeof here || goes_on(tail, text, at)))
          take(tail.index);
      }
    }
  }

  // Eight characters, the first one in the lowest bits.
  static std::uint64_t word(const char* bytes) {
    std::uint64_t out = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&out, bytes, sizeof out);
    } else {
      for (std::size_t i = 0; i < sizeof out; ++i)
        out |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    }
    return out;
  }
  // The same of a text that may have fewer.
  static std::uint64_t padded(std::string_view text);
  static std::uint32_t five_bits(char c) { return static_cast<unsigned char>(c) & 31u; }
  // Five bits of each of the first three characters: letters are the same in either case.
  static std::uint32_t begin_of(std::uint64_t word) {
    return static_cast<std::uint32_t>((word & 31) << 10 | (word >> 8 & 31) << 5 | (word >> 16 & 31));
  }
  // The group of the literals with that beginning. It may contain those with other beginnings, too.
  static std::size_t group_of(std::uint32_t begin) { return begin * 2654435761u >> 21; }
  // Whether the characters after the first eight match the literal too.
  bool goes_on(const Tail& tail, std::string_view text, std::size_t at) const;

  std::vector<Literal> literals_;
  Begins begins_{};
  Begins inside_{};                           // for literals that may follow a letter
  std::array<std::uint16_t, 2049> groups_{};  // where in `heads_` each begins
  std::vector<Head> heads_;                   // a literal of two characters is in many groups
  std::vector<Tail> tails_;                   // as `heads_`
};

}  // namespace cairn::gate
