#include "gate/secrets/known.h"

#include <algorithm>

#include "gate/secrets/chars.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kBegin = 8;
constexpr std::size_t kMaxLength = 4096, kMaxSecrets = 1024;

std::uint16_t begin_of(std::string_view text, const ShortHash& hash) {
  return static_cast<std::uint16_t>(hash.of(text.substr(0, kBegin)));
}

// Whether a word may begin or end between two characters.
bool is_border(std::string_view text, std::size_t at) {
  return at == 0 || at >= text.size() || !is(Chars::alnum, text[at - 1]) || !is(Chars::alnum, text[at]);
}

}  // namespace

bool HashedTexts::add(const KnownSecret& text) {
  if (!hashes_.insert(text.hash).second) return false;
  std::vector<std::uint32_t>& lengths = lengths_[text.begin];
  if (std::find(lengths.begin(), lengths.end(), text.length) == lengths.end()) lengths.push_back(text.length);
  return true;
}

void KnownSecrets::learn(std::string_view secret, const ShortHash& hash) {
  if (secret.size() < kBegin || secret.size() > kMaxLength || fresh_.size() >= kMaxSecrets) return;
  // A plain word or a number would be removed from every text of the session.
  if (!is_all(Chars::bare, secret) || count_of(Chars::digit, secret) == 0 ||
      count_of(Chars::letter, secret) == 0)
    return;
  const KnownSecret known{hash.of(secret), begin_of(secret, hash), static_cast<std::uint32_t>(secret.size())};
  if (texts_.add(known)) fresh_.push_back(known);
}

void KnownSecrets::find(std::string_view text, const ShortHash& hash, std::vector<FoundSecret>& found) const {
  if (empty()) return;
  for (std::size_t at = 0; at + kBegin <= text.size();) {
    const std::size_t run = run_end(Chars::bare, text, at);
    while (at + kBegin <= run) {
      std::size_t next = at + 1;
      const std::string_view rest = between(text, at, run);
      if (is_border(text, at))
        texts_.each(rest, begin_of(rest, hash), hash, [&](std::uint32_t length, std::uint64_t) {
          if (!is_border(text, at + length)) return;
          found.push_back({at, at + length, "known"});
          next = std::max(next, at + length);
        });
      at = next;
    }
    at = run + 1;
  }
}

}  // namespace cairn::gate
