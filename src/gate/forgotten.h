// What was forgotten must not come back: the gate removes it from everything that comes in, whichever way.
//
// Only keyed hashes are kept, of pieces of the normalised text (base/squeeze.h). They find a copy in another
// case, spacing or script, an escaped copy, and a copy that was cut, but no paraphrase. The same search finds
// what is to be removed from the store, and proves that it is gone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/squeeze.h"
#include "gate/secrets/known.h"

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
  std::uint16_t start_of(std::string_view piece) const;
  Tombstone made(Tombstone::Kind kind, std::string_view piece) const;
  // Those of a normalised text: one for all of it up to `whole` characters, else one for each piece.
  void add_pieces(Tombstone::Kind kind, std::string_view text, std::size_t whole,
                  std::vector<Tombstone>& out) const;
  // Calls take(begin, end, hash) for each piece in `plain`, of every home.
  template <class Take>
  void search(std::string_view plain, Take&& take) const;
  template <class Take>
  void search(const HashedTexts& pieces, Squeeze how, std::string_view plain, Take&& take) const;
  bool has_pieces() const;
  // Whether the tombstone that `make(home)` gives is known, of any home.
  template <class Make>
  bool has(Make&& make) const;

  std::string key_;
  ShortHash hash_;
  std::uint64_t mix_, factor_;
  HashedTexts words_, signs_;
  std::unordered_set<std::uint64_t> hashes_;  // of all others
  std::vector<Forgotten> others_;             // of other homes, one for each key
};

}  // namespace cairn::gate
