#include "gate/plain_view.h"

#include <algorithm>
#include <array>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace cairn::gate {

namespace {

// A decoded escape: `bytes` of the text become `plain`, one character or none (kNothing). 0 bytes: it is not
// an escape.
constexpr int kNothing = -1;
struct Escape {
  std::size_t bytes = 0;
  int plain = kNothing;
};

// The first bytes of escapes. The last four are those of zero-width and full-width characters, and of UTF-16.
constexpr auto kOpening = std::to_array<char>({'\\', '%', '&', '\x1b', '\xc2', '\xe2', '\xef', '\0'});
constexpr std::array<bool, 256> kOpens = [] {
  std::array<bool, 256> table{};
  for (const char c : kOpening) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_plain(int code) {
  return (code >= 0x20 && code < 0x7f) || code == '\n' || code == '\r' || code == '\t';
}

// An escape of `bytes` that ends with `digits`, if the digits are the code of a character that occurs in
// text.
Escape coded(std::size_t bytes, std::string_view text, std::size_t digits) {
  int code = 0;
  if (text.size() < bytes) return {};
  for (const char c : text.substr(bytes - digits, digits)) {
    if (hex(c) < 0) return {};
    code = code * 16 + hex(c);
  }
  return is_plain(code) ? Escape{bytes, code} : Escape{};
}

// All backslashes before the letter belong to the escape: each level of JSON in JSON doubles them.
Escape backslashes(std::string_view text) {
  const std::size_t count = std::min(text.find_first_not_of('\\'), text.size());
  if (count == text.size()) return {};
  switch (text[count]) {
    case 'n':
    case 'r': return {count + 1, '\n'};
    case 't': return {count + 1, '\t'};
    case '"':
    case '\'':
    case '`':
    case '/': return {count + 1, text[count]};
    case '\n': return {count + 1};  // a shell command continues on the next line
    case 'u': return coded(count + 5, text, 4);
    case 'x': return coded(count + 3, text, 2);
    default: return {};
  }
}

// %3D, and %253D for text that was encoded twice.
Escape per_cent(std::string_view text) {
  std::size_t at = 1;
  while (text.substr(at, 2) == "25" && text.size() >= at + 4 && hex(text[at + 2]) >= 0 &&
         hex(text[at + 3]) >= 0)
    at += 2;
  return coded(at + 2, text, 2);
}

// &#61; and &#x3d;: text[at] is the first digit, or the `x`.
Escape numbered(std::string_view text, std::size_t at) {
  const bool is_hex = text.size() > at && (text[at] | 0x20) == 'x';
  const int base = is_hex ? 16 : 10;
  int code = 0;
  at += is_hex ? 1 : 0;
  for (const std::size_t begin = at; at < text.size() && at - begin < 4; ++at) {
    const int digit = hex(text[at]);
    if (digit < 0 || digit >= base) break;
    code = code * base + digit;
  }
  if (at >= text.size() || text[at] != ';' || !is_plain(code)) return {};
  return {at + 1, code};
}

Escape entity(std::string_view text) {
  using Name = std::pair<std::string_view, char>;
  static constexpr auto kNames =
      std::to_array<Name>({{"quot;", '"'}, {"apos;", '\''}, {"lt;", '<'}, {"gt;", '>'}});
  // &amp;lt; was escaped twice; any depth is decoded.
  std::size_t at = 1;
  while (text.substr(at, 4) == "amp;") at += 4;
  const std::string_view rest = text.substr(at);
  if (rest.starts_with('#'))
    if (const Escape found = numbered(text, at + 1); found.bytes > 0) return found;
  for (const auto& [name, plain] : kNames)
    if (rest.starts_with(name)) return {at + name.size(), plain};
  // "&amp;" before anything else is only an ampersand.
  return at > 1 ? Escape{5, '&'} : Escape{};
}

// "\x1b[31m", or the escape character alone. It has no width.
Escape colour(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return {1};
  std::size_t end = 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3f) ++end;
  // A sequence that breaks off does not include the character after it.
  const bool ends = end < text.size() && text[end] >= 0x40 && text[end] <= 0x7e;
  return {end + (ends ? 1 : 0)};
}

Escape no_width(std::string_view text) {
  static constexpr auto kNone =
      std::to_array<std::string_view>({"\xc2\xad", "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d",
                                       "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x81\xa0", "\xef\xbb\xbf"});
  for (const std::string_view c : kNone)
    if (text.size() > 1 && text[1] == c[1] && text.starts_with(c)) return {c.size()};
  return {};
}

// Full-width forms of ASCII characters.
Escape full_width(std::string_view text) {
  if (text.size() < 3 || (text[1] != '\xbc' && text[1] != '\xbd')) return no_width(text);
  const int code = (text[1] == '\xbc' ? 0x20 : 0x60) + (static_cast<unsigned char>(text[2]) & 0x3f);
  return is_plain(code) && code > ' ' ? Escape{3, code} : Escape{};
}

// A zero byte. In UTF-16 every other byte is one: it is dropped. A single one separates two texts: it stays.
Escape wide(std::string_view text) {
  return text.size() <= 2 || text[2] == '\0' ? Escape{1} : Escape{};
}

Escape escape_at(std::string_view text) {
  switch (text[0]) {
    case '\\': return backslashes(text);
    case '%': return per_cent(text);
    case '&': return entity(text);
    case '\x1b': return colour(text);
    case '\0': return wide(text);
    case '\xef': return full_width(text);
    default: return no_width(text);
  }
}

struct Escaped {
  std::size_t at = 0;  // the text's size when there is none
  Escape escape;
};

// The position of the first character that may begin an escape.
std::size_t next_opening(std::string_view text, std::size_t at) {
  const auto opens = [&](std::size_t i) { return kOpens[static_cast<unsigned char>(text[i])]; };
  // Where there is one, the next is often near.
  for (const std::size_t near = std::min(at + 8, text.size()); at < near; ++at)
    if (opens(at)) return at;
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    __m128i found = _mm_setzero_si128();
    for (const char c : kOpening) found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
    if (const auto bits = static_cast<unsigned>(_mm_movemask_epi8(found)); bits != 0)
      return at + static_cast<std::size_t>(std::countr_zero(bits));
  }
#endif
  while (at < text.size() && !opens(at)) ++at;
  return at;
}

// The first escape from `at` on.
Escaped next_escape(std::string_view text, std::size_t at) {
  while ((at = next_opening(text, at)) < text.size()) {
    if (const Escape escape = escape_at(text.substr(at)); escape.bytes > 0) return {at, escape};
    // A run of backslashes that is no escape is skipped as a whole: reading it again from each one of them
    // would take quadratic time.
    at = std::max(at + 1, std::min(text.find_first_not_of('\\', at), text.size()));
  }
  return {text.size(), {}};
}

}  // namespace

PlainView::PlainView(std::string_view text) : raw_(text) {
  Escaped found = next_escape(text, 0);
  if (found.escape.bytes == 0) return;
  copied_ = true;
  plain_.reserve(text.size());
  std::size_t copied = 0;  // the text up to here has been copied to plain_
  for (; found.escape.bytes > 0; found = next_escape(text, copied)) {
    plain_.append(text, copied, found.at - copied);
    if (found.escape.plain != kNothing) plain_ += static_cast<char>(found.escape.plain);
    copied = found.at + found.escape.bytes;
  }
  plain_.append(text, copied);
}

std::size_t PlainView::raw_offset(std::size_t plain) {
  // An escape of no width makes two shifts at one place: the last one counts.
  while (next_.plain <= plain) {
    last_ = next_;
    const auto [at, escape] = next_escape(raw_, last_.raw);
    next_ = {last_.plain + (at - last_.raw) + (escape.plain == kNothing ? 0 : 1), at + escape.bytes};
    if (escape.bytes == 0) next_.plain = std::string_view::npos;
  }
  return last_.raw + (plain - last_.plain);
}

std::pair<std::size_t, std::size_t> PlainView::raw(std::size_t begin, std::size_t end) {
  if (!copied_) return {begin, end};
  const std::size_t first = raw_offset(begin);
  return {first, raw_offset(end)};
}

}  // namespace cairn::gate
