// Secrets that were found before, so that they are removed where nothing stands beside them that tells.
//
// They are known by keyed hashes: what a secret was cannot be computed from them without the home's key.
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

// Those of one session. Belongs to one thread.
class KnownSecrets {
 public:
  bool empty() const { return by_hash_.empty(); }
  void add(const KnownSecret& secret);

  // Remembers `secret` when it is long and mixed enough that it is nothing else wherever it stands: eight or
  // more characters, letters and digits among them, no blank. What is new is in fresh(). No more than a
  // thousand are remembered.
  void learn(std::string_view secret, const ShortHash& hash);
  const std::vector<KnownSecret>& fresh() const { return fresh_; }

  // Appends where one of them stands in `text`, from the start of a word to the end of one. Linear.
  void find(std::string_view text, const ShortHash& hash, std::vector<Place>& found) const;

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_map<std::uint16_t, std::vector<std::uint32_t>> lengths_;  // by the begin
  std::vector<KnownSecret> fresh_;
};

}  // namespace cairn::gate
