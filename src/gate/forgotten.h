// What was forgotten must not come back: the gate removes it from everything that comes in, whichever way.
//
// Known are only keyed hashes of pieces of the normalised text (base/squeeze.h): a copy is found in another
// case, spacing or script, escaped, and also when it was cut. A paraphrase is not. The same search finds what
// is to be removed from the store, and proves that it is gone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/squeeze.h"

namespace cairn::gate {

// Replaces a text that was forgotten.
inline constexpr std::string_view kForgottenText = "[forgotten]";

struct Tombstone {
  // `text` is removed wherever it occurs, `whole` only where it is all of a text, `secret` as `text`, with
  // its punctuation. `session`: a session of the host, whose events are refused. `record`: a record by its
  // uuid, which no import may bring back.
  enum class Kind { text, whole, secret, session, record };
  Kind kind = Kind::text;
  std::uint64_t hash = 0;
  std::uint16_t start = 0;   // of the first characters
  std::uint32_t length = 0;  // of the piece, normalised
  std::string key = {};      // of the home that made it; empty: this home's
};

// Thread-safe while nothing is added.
class Forgotten {
 public:
  // `key`: this home's (forget::tombstone_key).
  explicit Forgotten(std::string_view key);

  // A tombstone of another home is searched for with that home's key.
  void add(const Tombstone& tombstone);

  // The tombstones of a text. Of a short one (under `at_least` letters and digits) only `whole`.
  std::vector<Tombstone> of_text(std::string_view text, std::size_t at_least) const;
  Tombstone of_whole(std::string_view text) const;
  // Nothing for a secret of fewer than four characters.
  std::vector<Tombstone> of_secret(std::string_view secret) const;
  Tombstone of_session(std::string_view platform, std::string_view id) const;
  Tombstone of_record(std::string_view uuid) const;

  using Span = std::pair<std::size_t, std::size_t>;
  // The places in a text that were forgotten, in order, without overlap. Linear.
  std::vector<Span> find(std::string_view text) const;
  // Replaces them by kForgottenText. Returns how many there were.
  std::size_t remove(std::string& text) const;
  // Adds the hashes of the tombstones that occur in a text.
  void matches(std::string_view text, std::unordered_set<std::uint64_t>& hashes) const;
  // Whether all of `text` was forgotten, `whole` ones included.
  bool is_whole(std::string_view text) const;
  bool has_session(std::string_view platform, std::string_view id) const;
  bool has_record(std::string_view uuid) const;

 private:
  // The pieces of one way to normalise: by length, the hashes.
  struct Pieces {
    std::unordered_map<std::uint32_t, std::unordered_set<std::uint64_t>> by_length;
    std::unordered_map<std::uint16_t, std::vector<std::uint32_t>> lengths;  // by the start
    bool empty() const { return by_length.empty(); }
    void add(const Tombstone& tombstone);
  };
  std::uint16_t start_of(std::string_view piece) const;
  Tombstone made(Tombstone::Kind kind, std::string_view piece) const;
  // Calls take(begin, end, hash) for each piece in `in`.
  template <class Take>
  void search(const Pieces& pieces, const Squeezed& in, std::string_view plain, Take&& take) const;
  // The same for every home's pieces.
  template <class Take>
  void search_all(std::string_view plain, Take&& take) const;
  bool has_pieces() const;

  std::string key_;
  ShortHash hash_;
  std::uint64_t mix_, factor_;
  Pieces words_, signs_;
  std::unordered_set<std::uint64_t> wholes_, sessions_, records_;
  std::vector<Forgotten> others_;  // of other homes, one for each key
};

}  // namespace cairn::gate
