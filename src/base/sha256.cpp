#include "base/sha256.h"

#include <sodium/crypto_hash_sha256.h>

#include <cstring>

#include "base/hash.h"

namespace cairn {

// The header has raw bytes, so that it includes nothing of libsodium. They are copied to a State and back
// before and after each use. hex() finishes a copy: more can be added to the original.
using State = crypto_hash_sha256_state;

static_assert(sizeof(State) <= 128, "room for the state");

Sha256::Sha256() {
  State state;
  crypto_hash_sha256_init(&state);
  std::memcpy(state_, &state, sizeof state);
}

void Sha256::add(std::string_view bytes) {
  State state;
  std::memcpy(&state, state_, sizeof state);
  crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::memcpy(state_, &state, sizeof state);
}

std::string Sha256::hex() const {
  State state;
  std::memcpy(&state, state_, sizeof state);
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state, digest);
  return to_hex(std::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace cairn
