#include <algorithm>

#include "gate/secrets/finders.h"

namespace cairn::gate {

namespace {

constexpr std::size_t kMinBody = 48;   // characters of base64 that make a key rather than a mention of one
constexpr std::size_t kMinLines = 40;  // the same, behind a line that is nothing but theirs
constexpr std::string_view kFiveDashes = "-----";

bool is_base64(char c) {
  return is(Chars::code, c);
}

// Skips the characters between the lines of a block: breaks, quotes and signs of a patch or a listing.
bool is_filler(char c) {
  static constexpr CharSet kFillers("\n\r \t\"',>|=\\`*#");
  return kFillers.has(c);
}

// What a listing puts before every line: a number, a file, a time. Numbers and names in it differ from line
// to line, signs and blanks do not.
class ListPrefix {
 public:
  // Of the line in which a block begins at `at`.
  ListPrefix(std::string_view text, std::size_t at) {
    const std::size_t from = at - std::min(at, kMaxPrefix);
    const std::string_view before = text.substr(from, at - from);
    sample_ = before.substr(before.rfind('\n') + 1);
    const bool plain = std::all_of(sample_.begin(), sample_.end(),
                                   [](char c) { return is_filler(c) || c == '+' || c == '-'; });
    if (plain || is_base64(sample_.back())) sample_ = {};
  }

  // The end of such a prefix at `at`; `at` itself when there is none.
  std::size_t skip(std::string_view text, std::size_t at) const {
    std::size_t mine = 0, here = at;
    // Numbers are put under each other.
    while (mine < sample_.size() && kind_of(sample_[mine]) == space) ++mine;
    while (mine > 0 && here < text.size() && kind_of(text[here]) == space) ++here;
    while (mine < sample_.size()) {
      const Kind kind = kind_of(sample_[mine]);
      if (here >= text.size() || kind_of(text[here]) != kind) return at;
      if (kind == sign) {
        if (text[here++] != sample_[mine++]) return at;
        continue;
      }
      while (mine < sample_.size() && kind_of(sample_[mine]) == kind) ++mine;
      while (here < text.size() && kind_of(text[here]) == kind) ++here;
    }
    return here;
  }

 private:
  static constexpr std::size_t kMaxPrefix = 200;
  enum Kind { word, space, sign };
  static Kind kind_of(char c) { return is(Chars::word, c) ? word : is(Chars::blank, c) ? space : sign; }
  std::string_view sample_;  // empty: only characters that may separate lines
};

// The end of a block's body that begins at `at`, and how much base64 it holds.
std::pair<std::size_t, std::size_t> read_body(std::string_view text, std::size_t at, bool headers,
                                              const ListPrefix& prefix) {
  std::size_t digits = 0, end = at;
  while (at < text.size()) {
    if (is_filler(text[at])) {
      ++at;
      if (text[at - 1] == '\n') at = prefix.skip(text, at);
      continue;
    }
    if (text.substr(at, 3) == "<br") {
      const std::size_t close = text.substr(0, at + 8).find('>', at);
      if (close == std::string_view::npos) break;
      at = close + 1;
      continue;
    }
    if (text.substr(at).starts_with(kFiveDashes)) break;
    std::size_t stop = at;
    while (stop < text.size() && is_base64(text[stop]) && !text.substr(stop).starts_with(kFiveDashes)) ++stop;
    if (stop < text.size() && text[stop] == ':') {  // Proc-Type: 4,ENCRYPTED
      const std::size_t line = text.substr(0, at + 200).find('\n', at);
      if (!headers || line == std::string_view::npos || stop - at > 32) break;
      at = line;
      continue;
    }
    // A word of prose ends a body that was cut off.
    if (stop == at || (stop - at < 16 && stop < text.size() && !is_filler(text[stop]) && text[stop] != '-'))
      break;
    digits += stop - at;
    at = end = stop;
  }
  const bool closed = text.substr(at).starts_with("-----END");
  return {closed ? at : end, digits};
}

bool names_a_private_key(std::string_view line) {
  return line.find("PRIVATE KEY") != std::string_view::npos ||
         line.find("SECRET KEY") != std::string_view::npos ||
         line.find("Static key") != std::string_view::npos;  // of OpenVPN
}

Span block_from_its_begin(std::string_view text, std::size_t at) {
  const std::size_t label = at + 10;
  const std::size_t dashes = text.substr(0, label + 80).find(kFiveDashes, label);
  if (dashes == std::string_view::npos || dashes - label > 60 ||
      !names_a_private_key(text.substr(label, dashes - label)))
    return std::nullopt;
  const auto [end, digits] = read_body(text, dashes + 5, true, ListPrefix(text, at));
  if (digits < kMinBody) return std::nullopt;
  if (!text.substr(end).starts_with("-----END")) return std::pair(at, end);
  const std::size_t close = text.substr(0, end + 100).find(kFiveDashes, end + 8);
  return std::pair(at, close == std::string_view::npos || close - end > 80 ? end : close + 5);
}

// The beginning was cut off: remove all base64 before the end line.
Span block_from_its_end(std::string_view text, std::size_t at, std::size_t from) {
  const std::size_t close = text.substr(0, at + 100).find(kFiveDashes, at + 8);
  if (close == std::string_view::npos || close - at > 80 || !names_a_private_key(text.substr(at, close - at)))
    return std::nullopt;
  std::size_t begin = at, digits = 0;
  while (begin > from && (is_base64(text[begin - 1]) || is_filler(text[begin - 1]))) {
    if (begin - from >= 5 && text.substr(begin - 5, 5) == kFiveDashes) break;
    digits += is_base64(text[begin - 1]) ? 1 : 0;
    --begin;
  }
  if (digits < 16) return std::nullopt;
  while (begin < at && is_filler(text[begin])) ++begin;
  return std::pair(begin, close + 5);
}

}  // namespace

Span key_block(std::string_view text, std::size_t at, std::size_t from) {
  const std::string_view here = text.substr(at);
  if (here.starts_with("-----BEGIN")) return block_from_its_begin(text, at);
  if (here.starts_with("-----END")) return block_from_its_end(text, at, from);
  // PuTTY's own format: "Private-Lines: 8", then the lines.
  const std::size_t line = std::min(here.substr(0, 60).find('\n'), here.size());
  const auto [end, digits] = read_body(text, at + line, false, ListPrefix(text, at));
  return digits < kMinLines ? Span() : std::pair(at + line, end);
}

}  // namespace cairn::gate
