// Random characters that are the same on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

inline constexpr std::string_view kDigits = "0123456789";
inline constexpr std::string_view kHex = "0123456789abcdef";
inline constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
inline constexpr std::string_view kUpperDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
inline constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
inline constexpr std::string_view kBase36 = "abcdefghijklmnopqrstuvwxyz0123456789";
inline constexpr std::string_view kAlnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
inline constexpr std::string_view kUrlSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
inline constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::string_view kTyped =
    "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!@#%^*_+-=?.~";

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  std::string of(std::string_view alphabet, std::size_t length) {
    std::string out;
    for (std::size_t i = 0; i < length; ++i) out += alphabet[below(alphabet.size())];
    return out;
  }
  template <class T>
  const T& one(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  std::string uuid() {
    std::string out = of(kHex, 8);  // one after the other: compilers order the operands of + as they like
    out += "-" + of(kHex, 4);
    out += "-4" + of(kHex, 3);
    out += "-a" + of(kHex, 3);
    return out += "-" + of(kHex, 12);
  }

 private:
  std::mt19937_64 engine_;
};

std::string base64_of(std::string_view bytes);

}  // namespace cairn::test
