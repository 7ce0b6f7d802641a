// Hashes: a fast one for checksums and for comparing payloads, and keyed ones, which cannot be computed
// without the key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cairn {

// XXH3, 64 bits. Finds damage; no protection against an attacker.
std::uint64_t checksum(std::string_view bytes);

// The same over pieces, without allocating.
class Checksum {
 public:
  Checksum();
  void add(std::string_view bytes);
  std::uint64_t value() const;

 private:
  alignas(64) unsigned char state_[576];
};

// XXH3, 128 bits, as 32 hex digits: names a payload by its content.
std::string content_hash(std::string_view bytes);

// BLAKE2b with a 32-byte key, as 32 hex digits. Equal text has an equal hash; without the key it cannot be
// computed.
std::string keyed_hash(std::string_view key, std::string_view text);

// A faster keyed hash for many short texts: SipHash-2-4 with a key derived from `key`, 64 bits.
class ShortHash {
 public:
  explicit ShortHash(std::string_view key);
  std::uint64_t of(std::string_view text) const;

 private:
  unsigned char key_[16];
};

std::string to_hex(std::string_view bytes);
std::string to_hex(std::uint64_t number);  // 16 digits

}  // namespace cairn
