#include "base/hash.h"

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <new>

namespace cairn {

// The header has only room for the state, so that no other source includes xxhash.h.
static_assert(sizeof(XXH3_state_t) <= 576);

std::uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

static XXH3_state_t* state_of(unsigned char* raw) {
  return reinterpret_cast<XXH3_state_t*>(raw);
}

Checksum::Checksum() {
  XXH3_64bits_reset(new (state_) XXH3_state_t);
}

void Checksum::add(std::string_view bytes) {
  XXH3_64bits_update(state_of(state_), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const {
  return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_));
}

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return to_hex(hash.high64) + to_hex(hash.low64);
}

std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

std::string to_hex(std::uint64_t number) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (56 - 8 * i));
  return to_hex(std::string_view(bytes, 8));
}

}  // namespace cairn
