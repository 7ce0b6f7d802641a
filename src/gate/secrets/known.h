// Secrets that were found before. They are removed even where no name or shape shows that they are secrets.
//
// Only keyed hashes are kept: without the home's key, a secret cannot be computed from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "gate/secrets/finders.h"

namespace cairn::gate {

struct KnownSecret {
  std::uint64_t hash = 0;    // of all of it
  std::uint16_t begin = 0;   // of its first eight characters
  std::uint32_t length = 0;  // in characters
};

// The secrets of one session. Belongs to one thread.
class KnownSecrets {
 public:
  bool empty() const { return by_hash_.empty(); }
  void add(const KnownSecret& secret);

  // Remembers `secret` if it is unlikely to occur as something else: eight or more characters with letters
  // and digits and without blanks. New ones are in fresh(). At most a thousand are remembered.
  void learn(std::string_view secret, const ShortHash& hash);
  const std::vector<KnownSecret>& fresh() const { return fresh_; }

  // Appends the places in `text` where one of them occurs as whole words. Linear.
  void find(std::string_view text, const ShortHash& hash, std::vector<FoundSecret>& found) const;

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_map<std::uint16_t, std::vector<std::uint32_t>> lengths_;  // by the begin
  std::vector<KnownSecret> fresh_;
};

}  // namespace cairn::gate
