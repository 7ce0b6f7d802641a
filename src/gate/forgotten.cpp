#include "gate/forgotten.h"

#include <algorithm>
#include <cstring>

#include "gate/plain_view.h"

namespace cairn::gate {

namespace {

// A text is normalised (squeezed). Up to kPiece characters it gets one tombstone, a longer one gets a
// tombstone for each of its overlapping pieces. The search normalises the other text in the same way and asks
// at every position: is the 16-bit hash of the next kStart characters known? Only then the whole pieces of
// the lengths that begin like that are hashed and compared.

// A piece is long enough not to occur elsewhere by chance. One begins every few characters, so that nearly
// all of a cut copy is found.
constexpr std::size_t kPiece = 32, kStride = 8;
constexpr std::size_t kStart = 4;  // characters by which a piece is looked up
// A shorter piece counts only where it begins and ends with a word: "port" is not removed from "report".
constexpr std::size_t kFree = 16;

bool is_word_byte(char c) {
  return is(Chars::alnum, c) || (c & 0x80) != 0;
}

}  // namespace

Forgotten::Forgotten(std::string_view key)
    : key_(key), hash_(key), mix_(hash_.of("mix")), factor_(hash_.of("factor") | 1) {}

void Forgotten::add(const Tombstone& tombstone) {
  if (!tombstone.key.empty() && tombstone.key != key_) {
    auto other = std::find_if(others_.begin(), others_.end(),
                              [&](const Forgotten& one) { return one.key_ == tombstone.key; });
    if (other == others_.end()) other = others_.insert(other, Forgotten(tombstone.key));
    return other->add(tombstone);
  }
  const KnownSecret piece{tombstone.hash, tombstone.start, tombstone.length};
  switch (tombstone.kind) {
    case Tombstone::Kind::text: words_.add(piece); return;
    case Tombstone::Kind::secret: signs_.add(piece); return;
    case Tombstone::Kind::whole:
    case Tombstone::Kind::session:
    case Tombstone::Kind::record: hashes_.insert(tombstone.hash); return;
  }
}

// A fast hash for every position of a text; keyed, so that a stored tombstone does not show its first
// characters.
std::uint16_t Forgotten::start_of(std::string_view piece) const {
  std::uint32_t first = 0;
  std::memcpy(&first, piece.data(), kStart);
  return static_cast<std::uint16_t>(((first ^ mix_) * factor_) >> 48);
}

Tombstone Forgotten::made(Tombstone::Kind kind, std::string_view piece) const {
  return {kind, hash_.of(piece), piece.size() < kStart ? std::uint16_t{0} : start_of(piece),
          static_cast<std::uint32_t>(piece.size())};
}

Tombstone Forgotten::of_whole(std::string_view text) const {
  return made(Tombstone::Kind::whole, squeezed(text));
}

void Forgotten::add_pieces(Tombstone::Kind kind, std::string_view text, std::size_t whole,
                           std::vector<Tombstone>& out) const {
  if (text.size() <= whole) return out.push_back(made(kind, text));
  for (std::size_t at = 0; at + kPiece < text.size(); at += kStride)
    out.push_back(made(kind, text.substr(at, kPiece)));
  // The last piece ends with the text, wherever the stride would put it.
  out.push_back(made(kind, text.substr(text.size() - kPiece)));
}

std::vector<Tombstone> Forgotten::of_text(std::string_view text, std::size_t at_least) const {
  const std::string all = squeezed(text);
  if (all.empty()) return {};
  std::vector<Tombstone> out = {made(Tombstone::Kind::whole, all)};
  if (all.size() >= std::max(at_least, kStart)) add_pieces(Tombstone::Kind::text, all, kPiece, out);
  return out;
}

std::vector<Tombstone> Forgotten::of_secret(std::string_view secret) const {
  // Up to this size a secret is one piece: different secrets can share a part, such as a token's header or
  // the first part of an id.
  constexpr std::size_t kLongest = 512;
  const std::string all = squeezed(secret, Squeeze::signs);
  std::vector<Tombstone> out;
  if (all.size() >= kStart) add_pieces(Tombstone::Kind::secret, all, kLongest, out);
  return out;
}

Tombstone Forgotten::of_session(std::string_view platform, std::string_view id) const {
  return made(Tombstone::Kind::session, std::string(platform) + "\n" + std::string(id));
}

Tombstone Forgotten::of_record(std::string_view uuid) const {
  return made(Tombstone::Kind::record, "record\n" + std::string(uuid));
}

bool Forgotten::has_pieces() const {
  return !words_.empty() || !signs_.empty() ||
         std::any_of(others_.begin(), others_.end(),
                     [](const Forgotten& other) { return other.has_pieces(); });
}

template <class Take>
void Forgotten::search(const HashedTexts& pieces, Squeeze how, std::string_view plain, Take&& take) const {
  if (pieces.empty()) return;
  const Squeezed in = squeeze(plain, how);
  const auto is_inside = [&](std::size_t at) {
    return at > 0 && at < plain.size() && is_word_byte(plain[at - 1]) && is_word_byte(plain[at]);
  };
  for (std::size_t at = 0; at + kStart <= in.text.size(); ++at) {
    const std::string_view rest = std::string_view(in.text).substr(at);
    pieces.each(rest, start_of(rest), hash_, [&](std::uint32_t length, std::uint64_t hash) {
      const std::size_t begin = in.begin[at], end = in.end[at + length - 1];
      if (length >= kFree || !(is_inside(begin) || is_inside(end))) take(begin, end, hash);
    });
  }
}

template <class Take>
void Forgotten::search(std::string_view plain, Take&& take) const {
  search(words_, Squeeze::words, plain, take);
  search(signs_, Squeeze::signs, plain, take);
  for (const Forgotten& other : others_) other.search(plain, take);
}

// Joins places with nothing but spacing and punctuation between them, and completes words that were cut.
static std::vector<Forgotten::Span> joined(std::string_view plain, std::vector<Forgotten::Span> found) {
  std::sort(found.begin(), found.end());
  std::vector<Forgotten::Span> out;
  const auto nothing_between = [&](std::size_t from, std::size_t to) {
    return std::none_of(plain.begin() + static_cast<std::ptrdiff_t>(from),
                        plain.begin() + static_cast<std::ptrdiff_t>(to), is_word_byte);
  };
  for (const auto& [begin, end] : found) {
    if (!out.empty() && (begin <= out.back().second || nothing_between(out.back().second, begin)))
      out.back().second = std::max(out.back().second, end);
    else
      out.emplace_back(begin, end);
  }
  for (auto& [begin, end] : out) {
    while (begin > 0 && is_word_byte(plain[begin - 1]) && is_word_byte(plain[begin])) --begin;
    while (end < plain.size() && is_word_byte(plain[end]) && is_word_byte(plain[end - 1])) ++end;
  }
  return out;
}

std::vector<Forgotten::Span> Forgotten::find(std::string_view text) const {
  std::vector<Span> found;
  if (!has_pieces()) return found;
  PlainView view(text);
  const std::string_view plain = view.text();
  search(plain, [&](std::size_t begin, std::size_t end, std::uint64_t) { found.emplace_back(begin, end); });
  if (found.empty()) return found;
  std::vector<Span> spans = joined(plain, std::move(found));
  for (Span& span : spans) span = view.raw(span.first, span.second);
  return spans;
}

std::size_t Forgotten::remove(std::string& text) const {
  const std::vector<Span> spans = find(text);
  if (spans.empty()) return 0;
  std::string out;
  std::size_t at = 0;
  for (const auto& [begin, end] : spans) {
    out.append(text, at, begin - at).append(kForgottenText);
    at = end;
  }
  text = out.append(text, at);
  return spans.size();
}

void Forgotten::matches(std::string_view text, std::unordered_set<std::uint64_t>& hashes) const {
  if (!has_pieces()) return;
  const PlainView view(text);
  search(view.text(), [&](std::size_t, std::size_t, std::uint64_t hash) { hashes.insert(hash); });
}

template <class Make>
bool Forgotten::has(Make&& make) const {
  const auto is_here = [&] {
    const Tombstone one = make(*this);
    return one.length > 0 && hashes_.contains(one.hash);
  };
  return (!hashes_.empty() && is_here()) ||
         std::any_of(others_.begin(), others_.end(), [&](const Forgotten& other) { return other.has(make); });
}

bool Forgotten::is_whole(std::string_view text) const {
  return has([&](const Forgotten& home) { return home.of_whole(text); });
}

bool Forgotten::has_session(std::string_view platform, std::string_view id) const {
  return has([&](const Forgotten& home) { return home.of_session(platform, id); });
}

bool Forgotten::has_record(std::string_view uuid) const {
  return has([&](const Forgotten& home) { return home.of_record(uuid); });
}

}  // namespace cairn::gate
