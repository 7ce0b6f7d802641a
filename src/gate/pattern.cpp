#include "gate/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace cairn::gate {

namespace {

std::optional<Pattern::Match> run(const re2::RE2& compiled, std::string_view text, std::size_t at,
                                  re2::RE2::Anchor anchor, std::size_t limit = std::string_view::npos) {
  constexpr int kMost = 4;
  std::array<re2::StringPiece, kMost> parts;
  const int wanted = std::min(1 + compiled.NumberOfCapturingGroups(), kMost);
  const re2::StringPiece input(text.data(), text.size());
  if (!compiled.Match(input, at, std::min(limit, text.size()), anchor, parts.data(), wanted))
    return std::nullopt;
  const auto place = [&](const re2::StringPiece& part) {
    return static_cast<std::size_t>(part.data() - text.data());
  };
  Pattern::Match match;
  match.begin = match.inner_begin = place(parts[0]);
  match.end = match.inner_end = match.begin + parts[0].size();
  for (int i = 1; i < wanted; ++i) {
    const auto& part = parts[static_cast<std::size_t>(i)];
    if (part.data() == nullptr || part.empty()) continue;
    match.inner_begin = place(part);
    match.inner_end = match.inner_begin + part.size();
    break;
  }
  return match;
}

}  // namespace

Pattern::Pattern(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::compile(std::string_view pattern, bool wide) {
  re2::RE2::Options options(re2::RE2::Latin1);  // bytes: the text is ASCII where it matters
  options.set_log_errors(false);
  options.set_max_mem(wide ? 8 << 20 : 1 << 20);
  auto compiled = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) return Error{Code::invalid, compiled->error()};
  return Pattern(std::move(compiled));
}

std::optional<Pattern::Match> Pattern::match_at(std::string_view text, std::size_t at) const {
  return run(*compiled_, text, at, re2::RE2::ANCHOR_START);
}

std::optional<Pattern::Match> Pattern::find(std::string_view text, std::size_t at, std::size_t limit) const {
  return run(*compiled_, text, at, re2::RE2::UNANCHORED, limit);
}

bool Pattern::matches_all(std::string_view text) const {
  return run(*compiled_, text, 0, re2::RE2::ANCHOR_BOTH).has_value();
}

}  // namespace cairn::gate
