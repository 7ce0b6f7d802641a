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

void KnownSecrets::add(const KnownSecret& secret) {
  if (!by_hash_.emplace(secret.hash, secret.length).second) return;
  std::vector<std::uint32_t>& lengths = lengths_[secret.begin];
  if (std::find(lengths.begin(), lengths.end(), secret.length) == lengths.end())
    lengths.push_back(secret.length);
}

void KnownSecrets::learn(std::string_view secret, const ShortHash& hash) {
  const auto has = [&](Chars chars) {
    return std::any_of(secret.begin(), secret.end(), [&](char c) { return is(chars, c); });
  };
  if (secret.size() < kBegin || secret.size() > kMaxLength || fresh_.size() >= kMaxSecrets) return;
  if (run_end(Chars::bare, secret, 0) < secret.size() || !has(Chars::digit) || !has(Chars::letter)) return;
  const KnownSecret known{hash.of(secret), begin_of(secret, hash), static_cast<std::uint32_t>(secret.size())};
  if (by_hash_.contains(known.hash)) return;
  add(known);
  fresh_.push_back(known);
}

void KnownSecrets::find(std::string_view text, const ShortHash& hash, std::vector<FoundSecret>& found) const {
  if (empty()) return;
  for (std::size_t at = 0; at + kBegin <= text.size();) {
    const std::size_t run = run_end(Chars::bare, text, at);
    while (at + kBegin <= run) {
      std::size_t next = at + 1;
      if (is_border(text, at))
        if (const auto lengths = lengths_.find(begin_of(text.substr(at), hash)); lengths != lengths_.end())
          for (const std::uint32_t length : lengths->second)
            if (at + length <= run && is_border(text, at + length) &&
                by_hash_.contains(hash.of(text.substr(at, length)))) {
              found.push_back({at, at + length, "known"});
              next = std::max(next, at + length);
            }
      at = next;
    }
    at = run + 1;
  }
}

}  // namespace cairn::gate
