#include "gate/secrets/user_patterns.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "gate/secrets.h"

namespace cairn::gate {

namespace {

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

// `wide`: it will search long texts, and may use more memory to stay fast.
std::unique_ptr<const re2::RE2> compiled(std::string_view pattern, bool wide) {
  re2::RE2::Options options(re2::RE2::Latin1);  // bytes: the text is ASCII where it matters
  options.set_log_errors(false);
  options.set_max_mem(wide ? 8 << 20 : 1 << 20);
  return std::make_unique<re2::RE2>(piece(pattern), options);
}

bool matches_all(const re2::RE2& pattern, std::string_view text) {
  return pattern.Match(piece(text), 0, text.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0);
}

std::pair<std::string_view, std::string_view> name_and_pattern(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  return {text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))};
}

struct Match {
  std::size_t begin = 0, end = 0;
  std::string_view inner;  // its first group that took part; else all of it
};

// The first match at or after `at`. Text after `limit` is not read, except for one character.
std::optional<Match> next_match(const re2::RE2& pattern, std::string_view text, std::size_t at,
                                std::size_t limit) {
  std::array<re2::StringPiece, 4> parts;
  const int wanted = std::min(1 + pattern.NumberOfCapturingGroups(), static_cast<int>(parts.size()));
  if (!pattern.Match(piece(text), at, std::min(limit, text.size()), re2::RE2::UNANCHORED, parts.data(),
                     wanted))
    return std::nullopt;
  const auto group =
      std::find_if(parts.begin() + 1, parts.end(), [](const auto& part) { return !part.empty(); });
  const re2::StringPiece& inner = group == parts.end() ? parts[0] : *group;
  const auto begin = static_cast<std::size_t>(parts[0].data() - text.data());
  return Match{begin, begin + parts[0].size(), {inner.data(), inner.size()}};
}

}  // namespace

std::string wrong_pattern(std::string_view pattern, bool named) {
  if (named) {
    const auto [name, rest] = name_and_pattern(pattern);
    if (name.empty() || name.size() > 40 ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string_view::npos)
      return "must be name=PATTERN, the name of a-z, 0-9 and -";
    pattern = rest;
  }
  const auto made = compiled(pattern, false);
  if (!made->ok()) return made->error();
  return matches_all(*made, "") ? "matches the empty text" : "";
}

UserPatterns::UserPatterns(const std::vector<std::string>& secrets, const std::vector<std::string>& allowed) {
  for (const std::string& text : secrets) {
    if (!wrong_pattern(text, true).empty()) continue;
    const auto [name, pattern] = name_and_pattern(text);
    secrets_.emplace_back(name, compiled(pattern, true));
  }
  for (const std::string& text : allowed)
    if (auto pattern = compiled(text, false); pattern->ok()) allowed_.push_back(std::move(pattern));
}

UserPatterns::~UserPatterns() = default;

// Finding one match takes linear time, but each may read far ahead (`x+y|x` in a row of x), so that finding
// all of them would not. So the text is searched in pieces: a match reads at most kReach beyond its piece,
// and when a piece has more than kMost matches, the rest of the piece counts as one.
void UserPatterns::find(std::string_view text, std::vector<FoundSecret>& found) const {
  constexpr std::size_t kPiece = 8192, kReach = 8192, kMost = 256;
  for (const auto& [name, pattern] : secrets_) {
    std::size_t at = 0;
    for (std::size_t begin = 0; begin < text.size(); begin += kPiece) {
      const std::size_t end = std::min(begin + kPiece, text.size());
      at = std::max(at, begin);
      for (std::size_t count = 0; at < end; ++count) {
        const auto match = count < kMost ? next_match(*pattern, text, at, end + kReach)
                                         : Match{at, end, text.substr(at, end - at)};
        if (!match || match->begin >= end) break;
        const auto inner = static_cast<std::size_t>(match->inner.data() - text.data());
        if (!match->inner.empty()) found.push_back({inner, inner + match->inner.size(), name});
        at = std::max(match->end, at + 1);
      }
    }
  }
}

bool UserPatterns::allow(std::string_view secret) const {
  return std::any_of(allowed_.begin(), allowed_.end(),
                     [&](const Pattern& pattern) { return matches_all(*pattern, secret); });
}

}  // namespace cairn::gate
