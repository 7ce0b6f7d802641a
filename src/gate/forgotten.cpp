#include "gate/forgotten.h"

#include <algorithm>
#include <cstring>

#include "gate/plain_view.h"

namespace cairn::gate {

namespace {

// A piece is long enough not to occur elsewhere by chance. One begins every few characters, so that nearly
// all of a cut copy is found.
constexpr std::size_t kPiece = 32, kStride = 8;
constexpr std::size_t kStart = 4;
// A shorter piece counts only as whole words.
constexpr std::size_t kFree = 16;

bool is_word_byte(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z');
}

}  // namespace

Forgotten::Forgotten(std::string_view key)
    : key_(key), hash_(key), mix_(hash_.of("mix")), factor_(hash_.of("factor") | 1) {}

void Forgotten::Pieces::add(const Tombstone& tombstone) {
  by_length[tombstone.length].insert(tombstone.hash);
  auto& known = lengths[tombstone.start];
  if (std::find(known.begin(), known.end(), tombstone.length) == known.end())
    known.push_back(tombstone.length);
}

void Forgotten::add(const Tombstone& tombstone) {
  if (!tombstone.key.empty() && tombstone.key != key_) {
    auto other = std::find_if(others_.begin(), others_.end(),
                              [&](const Forgotten& one) { return one.key_ == tombstone.key; });
    if (other == others_.end()) other = others_.insert(other, Forgotten(tombstone.key));
    return other->add(tombstone);
  }
  switch (tombstone.kind) {
    case Tombstone::Kind::text: return words_.add(tombstone);
    case Tombstone::Kind::secret: return signs_.add(tombstone);
    case Tombstone::Kind::whole: wholes_.insert(tombstone.hash); return;
    case Tombstone::Kind::session: sessions_.insert(tombstone.hash); return;
    case Tombstone::Kind::record: records_.insert(tombstone.hash); return;
  }
}

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

std::vector<Tombstone> Forgotten::of_text(std::string_view text, std::size_t at_least) const {
  const std::string all = squeezed(text);
  std::vector<Tombstone> out;
  if (all.empty()) return out;
  out.push_back(made(Tombstone::Kind::whole, all));
  if (all.size() < std::max(at_least, kStart)) return out;
  const std::string_view view = all;
  if (all.size() <= kPiece) {
    out.push_back(made(Tombstone::Kind::text, view));
    return out;
  }
  for (std::size_t at = 0; at + kPiece < all.size(); at += kStride)
    out.push_back(made(Tombstone::Kind::text, view.substr(at, kPiece)));
  out.push_back(made(Tombstone::Kind::text, view.substr(all.size() - kPiece)));
  return out;
}

std::vector<Tombstone> Forgotten::of_secret(std::string_view secret) const {
  const std::string all = squeezed(secret, Squeeze::signs);
  std::vector<Tombstone> out;
  if (all.size() < kStart) return out;
  // Whole, because other secrets begin alike: a token's header, the first part of an id.
  constexpr std::size_t kLongest = 512;
  const std::string_view view = all;
  if (all.size() <= kLongest) return {made(Tombstone::Kind::secret, view)};
  for (std::size_t at = 0; at + kPiece < all.size(); at += kStride)
    out.push_back(made(Tombstone::Kind::secret, view.substr(at, kPiece)));
  out.push_back(made(Tombstone::Kind::secret, view.substr(all.size() - kPiece)));
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
void Forgotten::search(const Pieces& pieces, const Squeezed& in, std::string_view plain, Take&& take) const {
  if (pieces.empty() || in.text.size() < kStart) return;
  const std::string_view text = in.text;
  for (std::size_t at = 0; at + kStart <= text.size(); ++at) {
    const auto lengths = pieces.lengths.find(start_of(text.substr(at)));
    if (lengths == pieces.lengths.end()) continue;
    for (const std::uint32_t length : lengths->second) {
      if (at + length > text.size()) continue;
      const auto known = pieces.by_length.find(length);
      const std::uint64_t hash = hash_.of(text.substr(at, length));
      if (!known->second.contains(hash)) continue;
      const std::size_t begin = in.begin[at], end = in.end[at + length - 1];
      const bool inside = (begin > 0 && is_word_byte(plain[begin - 1]) && is_word_byte(plain[begin])) ||
                          (end < plain.size() && is_word_byte(plain[end]) && is_word_byte(plain[end - 1]));
      if (length < kFree && inside) continue;
      take(begin, end, hash);
    }
  }
}

template <class Take>
void Forgotten::search_all(std::string_view plain, Take&& take) const {
  if (!words_.empty()) search(words_, squeeze(plain, Squeeze::words), plain, take);
  if (!signs_.empty()) search(signs_, squeeze(plain, Squeeze::signs), plain, take);
  for (const Forgotten& other : others_) other.search_all(plain, take);
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
  search_all(plain,
             [&](std::size_t begin, std::size_t end, std::uint64_t) { found.emplace_back(begin, end); });
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
  search_all(view.text(), [&](std::size_t, std::size_t, std::uint64_t hash) { hashes.insert(hash); });
}

bool Forgotten::is_whole(std::string_view text) const {
  if (wholes_.empty() && others_.empty()) return false;
  const std::string all = squeezed(text);
  if (!all.empty() && wholes_.contains(hash_.of(all))) return true;
  return std::any_of(others_.begin(), others_.end(),
                     [&](const Forgotten& other) { return other.is_whole(text); });
}

bool Forgotten::has_session(std::string_view platform, std::string_view id) const {
  if (!sessions_.empty() && sessions_.contains(of_session(platform, id).hash)) return true;
  return std::any_of(others_.begin(), others_.end(),
                     [&](const Forgotten& other) { return other.has_session(platform, id); });
}

bool Forgotten::has_record(std::string_view uuid) const {
  if (!records_.empty() && records_.contains(of_record(uuid).hash)) return true;
  return std::any_of(others_.begin(), others_.end(),
                     [&](const Forgotten& other) { return other.has_record(uuid); });
}

}  // namespace cairn::gate
