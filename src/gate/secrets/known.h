// Secrets that were found before. They are removed even where no name or shape shows that they are secrets.
//
// Only keyed hashes are kept: without the home's key, a secret cannot be computed from them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "gate/secrets/finders.h"

namespace cairn::gate {

struct KnownSecret {
  std::uint64_t hash = 0;    // of all of it
  std::uint16_t begin = 0;   // of its first characters
  std::uint32_t length = 0;  // in characters
};

// Texts of which only the hashes are known, found by what they begin with.
class HashedTexts {
 public:
  bool empty() const { return hashes_.empty(); }
  // False: it was known already.
  bool add(const KnownSecret& text);
  // Calls `take(length, hash)` for each that `text` begins with. `begin`: the hash of its first characters.
  template <class Take>
  void each(std::string_view text, std::uint16_t begin, const ShortHash& hash, Take&& take) const {
    const auto lengths = lengths_.find(begin);
    if (lengths == lengths_.end()) return;
    for (const std::uint32_t length : lengths->second) {
      if (length > text.size()) continue;
      const std::uint64_t found = hash.of(text.substr(0, length));
      if (hashes_.contains(found)) take(length, found);
    }
  }

 private:
  std::unordered_set<std::uint64_t> hashes_;
  std::unordered_map<std::uint16_t, std::vector<std::uint32_t>> lengths_;  // by KnownSecret::begin
};

// The secrets of one session. Belongs to one thread.
class KnownSecrets {
 public:
  bool empty() const { return texts_.empty(); }
  void add(const KnownSecret& secret) { texts_.add(secret); }

  // Remembers `secret` if it is unlikely to occur as something else: eight or more characters with letters
  // and digits and without blanks. New ones are in fresh(). At most a thousand are remembered.
  void learn(std::string_view secret, const ShortHash& hash);
  const std::vector<KnownSecret>& fresh() const { return fresh_; }

  // Appends the places in `text` where one of them occurs as whole words. Linear.
  void find(std::string_view text, const ShortHash& hash, std::vector<FoundSecret>& found) const;

 private:
  HashedTexts texts_;
  std::vector<KnownSecret> fresh_;
};

}  // namespace cairn::gate
