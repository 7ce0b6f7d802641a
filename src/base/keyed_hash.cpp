// Apart from hash.cpp, so that a program that needs only checksums does not link libsodium.
#include <sodium.h>

#include "base/hash.h"
#include "base/result.h"

namespace cairn {

static const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

template <std::size_t N>
static void blake2b(std::string_view key, std::string_view text, unsigned char (&out)[N]) {
  const int failed = crypto_generichash(out, N, bytes_of(text), text.size(), bytes_of(key), key.size());
  CAIRN_ASSERT(failed == 0);
}

std::string keyed_hash(std::string_view key, std::string_view text) {
  unsigned char out[16];
  blake2b(key, text, out);
  return to_hex({reinterpret_cast<const char*>(out), sizeof out});
}

// A key of its own, derived with a fixed text: no key is used by two algorithms.
ShortHash::ShortHash(std::string_view key) {
  static_assert(sizeof key_ == crypto_shorthash_KEYBYTES);
  blake2b(key, "cairn short hash", key_);
}

std::uint64_t ShortHash::of(std::string_view text) const {
  unsigned char out[crypto_shorthash_BYTES];
  crypto_shorthash(out, bytes_of(text), text.size(), key_);
  // Hashes are stored: the order of the bytes must not depend on the machine.
  std::uint64_t number = 0;
  for (const unsigned char byte : out) number = number << 8 | byte;
  return number;
}

}  // namespace cairn
