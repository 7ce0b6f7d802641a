#include "base/sha1.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/hash.h"

namespace cairn {

namespace {

constexpr std::size_t kBlockSize = 64;

// As in FIPS 180-4. Our own, because libsodium has no SHA-1.
class Sha1State {
 public:
  void add(std::string_view bytes) {
    total_ += bytes.size();
    for (const char c : bytes) {
      block_[used_++] = static_cast<unsigned char>(c);
      if (used_ == kBlockSize) mix();
    }
  }

  // Pads with a 1 bit and zeros so that the length in bits fills the last block.
  std::string digest() {
    const std::uint64_t bits = total_ * 8;  // before the padding is counted too
    add(std::string_view("\x80", 1));
    while (used_ != kBlockSize - 8) add(std::string_view("\0", 1));
    for (int i = 7; i >= 0; --i) block_[used_++] = static_cast<unsigned char>(bits >> (8 * i));
    mix();
    std::string out;
    for (const std::uint32_t word : state_)
      for (int i = 3; i >= 0; --i) out.push_back(static_cast<char>(word >> (8 * i)));
    return out;
  }

 private:
  void mix() {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t i = 0; i < 16; ++i)
      w[i] = std::uint32_t{block_[4 * i]} << 24 | std::uint32_t{block_[4 * i + 1]} << 16 |
             std::uint32_t{block_[4 * i + 2]} << 8 | std::uint32_t{block_[4 * i + 3]};
    for (std::size_t i = 16; i < w.size(); ++i)
      w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = state_;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const auto [f, k] = round(i, b, c, d);
      const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d, state_[4] + e};
    used_ = 0;
  }

  static std::pair<std::uint32_t, std::uint32_t> round(std::size_t i, std::uint32_t b, std::uint32_t c,
                                                       std::uint32_t d) {
    if (i < 20) return {(b & c) | (~b & d), 0x5a827999};
    if (i < 40) return {b ^ c ^ d, 0x6ed9eba1};
    if (i < 60) return {(b & c) | (b & d) | (c & d), 0x8f1bbcdc};
    return {b ^ c ^ d, 0xca62c1d6};
  }

  std::array<std::uint32_t, 5> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::array<unsigned char, kBlockSize> block_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

std::string sha1(std::string_view first, std::string_view second) {
  Sha1State state;
  state.add(first);
  state.add(second);
  return to_hex(state.digest());
}

}  // namespace cairn
