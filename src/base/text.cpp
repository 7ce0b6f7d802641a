#include "base/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cairn {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

struct Decoded {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool ok = false;  // false: replace these `bytes` by one U+FFFD
};

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xc0) == 0x80;
}

// Reads the character at `at`. The range of the second byte excludes overlong forms, surrogates and codes
// beyond U+10FFFF (Unicode standard, table 3-7).
Decoded decode(std::string_view text, std::size_t at) {
  const unsigned char lead = byte_at(text, at);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t length = 0;
  unsigned char low = 0x80, high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {0, 1, false};
  }
  char32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size()) return {0, i, false};
    const unsigned char next = byte_at(text, at + i);
    if (next < low || next > high) return {0, i, false};
    code = code << 6 | (next & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  return {code, length, true};
}

// The position of the first byte that is not ASCII, at or after `at`. Most text is ASCII, so eight bytes are
// tested at once: a byte beyond ASCII has its highest bit set.
std::size_t skip_ascii(std::string_view text, std::size_t at) {
  while (at + 8 <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if (word & 0x8080808080808080u) break;
    at += 8;
  }
  while (at < text.size() && byte_at(text, at) < 0x80) ++at;
  return at;
}

// Where `text` stops being UTF-8; its size when all of it is.
std::size_t first_invalid(std::string_view text) {
  std::size_t at = 0;
  while ((at = skip_ascii(text, at)) < text.size()) {
    const Decoded c = decode(text, at);
    if (!c.ok) return at;
    at += c.bytes;
  }
  return at;
}

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

struct Range {
  char32_t first, last;
};

// Characters that are invisible, change the direction of text, carry hidden text or are for private use. The
// emoji variation selector U+FE0F is not in the list: append_visible() keeps it where it has an effect.
constexpr Range kUnseen[] = {
    {0x00ad, 0x00ad},    {0x034f, 0x034f}, {0x061c, 0x061c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},    {0x200b, 0x200f}, {0x202a, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xe000, 0xf8ff},    {0xfdd0, 0xfdef}, {0xfe00, 0xfe0e},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},    {0xfffe, 0xffff}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    {0xf0000, 0x10ffff},
};

bool is_unseen(char32_t c) {
  return std::any_of(std::begin(kUnseen), std::end(kUnseen),
                     [c](Range r) { return c >= r.first && c <= r.last; });
}

// The start of a control sequence (ECMA-48), as ESC and a character or as one C1 character, which has two
// bytes in UTF-8. '[' has parameters, such as ESC[31m; one of "]PX^_" has a string and a terminator, such as
// ESC]0;title BEL; others have at most intermediate bytes and a final one.
struct Introducer {
  char kind = 0;
  std::size_t bytes = 0;
};

Introducer introducer(std::string_view text, std::size_t at) {
  if (text[at] == '\x1b') {
    const bool known = at + 1 < text.size() && std::strchr("[]PX^_", text[at + 1]) && text[at + 1] != '\0';
    return known ? Introducer{text[at + 1], 2} : Introducer{'\x1b', 1};
  }
  if (text[at] != '\xc2' || at + 1 >= text.size()) return {};
  switch (byte_at(text, at + 1)) {
    case 0x90: return {'P', 2};
    case 0x98: return {'X', 2};
    case 0x9b: return {'[', 2};
    case 0x9d: return {']', 2};
    case 0x9e: return {'^', 2};
    case 0x9f: return {'_', 2};
  }
  return {};
}

bool in_range(std::string_view text, std::size_t at, unsigned char first, unsigned char last) {
  return at < text.size() && byte_at(text, at) >= first && byte_at(text, at) <= last;
}

// The end of a control string whose content starts at `at`. When it has no end, only its introducer is
// removed: the text after it must not disappear.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at; i < text.size(); ++i) {
    // BEL ends the string, as terminals accept it; CAN and SUB abort it.
    if (text[i] == '\a' || text[i] == '\x18' || text[i] == '\x1a') return i + 1;
    if (text[i] == '\xc2' && in_range(text, i + 1, 0x9c, 0x9c)) return i + 2;
    // ESC without a backslash begins another sequence: that one is removed next.
    if (text[i] == '\x1b') return i + 1 < text.size() && text[i + 1] == '\\' ? i + 2 : i;
  }
  return at;
}

// The end of the control sequence at `at`; `at` itself when there is none.
std::size_t sequence_end(std::string_view text, std::size_t at) {
  const Introducer intro = introducer(text, at);
  if (intro.bytes == 0) return at;
  std::size_t end = at + intro.bytes;
  if (intro.kind == '[') {
    // Parameter bytes, intermediate bytes, one final byte. A sequence may break off anywhere.
    while (in_range(text, end, 0x30, 0x3f)) ++end;
    while (in_range(text, end, 0x20, 0x2f)) ++end;
    return in_range(text, end, 0x40, 0x7e) ? end + 1 : end;
  }
  if (intro.kind != '\x1b') return string_end(text, end);
  while (in_range(text, end, 0x20, 0x2f)) ++end;
  return in_range(text, end, 0x30, 0x7e) ? end + 1 : end;
}

// The end of the run of usual ASCII characters at `at`.
std::size_t plain_end(std::string_view text, std::size_t at) {
  const auto is_plain = [](char c) {
    return ((c & 0x80) == 0 && c >= ' ' && c != '\x7f') || c == '\n' || c == '\t';
  };
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

// Appends the character as a person sees it. `takes_selector`: the character before it can take an emoji
// variation selector (U+FE0F). One selector after a visible character may stay; a series of them could carry
// hidden text.
void append_visible(std::string& out, char32_t code, std::string_view bytes, bool& takes_selector) {
  if (code == '\n' || code == '\t') {
    out.append(bytes);
    takes_selector = false;
  } else if (code == 0x2028 || code == 0x2029) {
    out.push_back('\n');
    takes_selector = false;
  } else if (code == 0xfe0f) {
    if (takes_selector) out.append(bytes);
    takes_selector = false;
  } else if (code >= 0x20 && !(code >= 0x7f && code <= 0x9f) && !is_unseen(code)) {
    out.append(bytes);
    takes_selector = true;
  }
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  return first_invalid(bytes) == bytes.size();
}

std::string valid_utf8(std::string bytes) {
  std::size_t at = first_invalid(bytes);
  if (at == bytes.size()) return bytes;
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  out.append(bytes, 0, at);
  while (at < bytes.size()) {
    const Decoded c = decode(bytes, at);
    if (c.ok)
      out.append(bytes, at, c.bytes);
    else
      out.append(kReplacement);
    at += c.bytes;
  }
  return out;
}

std::string_view prefix(std::string_view text, std::size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && is_continuation(byte_at(text, max))) --max;
  return text.substr(0, max);
}

std::string_view suffix(std::string_view text, std::size_t max) {
  if (text.size() <= max) return text;
  std::size_t from = text.size() - max;
  while (from < text.size() && is_continuation(byte_at(text, from))) ++from;
  return text.substr(from);
}

std::string cut(std::string_view text, std::size_t max) {
  if (text.size() <= max) return std::string(text);
  const auto marker = [](std::size_t bytes) {
    return std::string(kEllipsis).append(" [").append(std::to_string(bytes)).append(" bytes cut]");
  };
  // The number in the marker depends on how much is cut, and this on the marker's length: make room for the
  // longest one.
  const std::size_t room = marker(text.size()).size();
  if (max < room) return std::string(prefix(text, max));
  const std::string_view kept = prefix(text, max - room);
  return std::string(kept).append(marker(text.size() - kept.size()));
}

std::string visible(std::string_view input) {
  std::string repaired;
  std::string_view text = input;
  if (!is_utf8(input)) text = repaired = valid_utf8(std::string(input));
  std::string out;
  out.reserve(text.size());
  bool takes_selector = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = plain_end(text, at); end > at) {
      out.append(text, at, end - at);
      takes_selector = text[end - 1] >= ' ';
      at = end;
      continue;
    }
    if (text[at] == '\r') {
      out.push_back('\n');
      takes_selector = false;
      at += at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
      continue;
    }
    if (const std::size_t end = sequence_end(text, at); end > at) {
      at = end;
      continue;
    }
    const Decoded c = decode(text, at);
    append_visible(out, c.code, text.substr(at, c.bytes), takes_selector);
    at += c.bytes;
  }
  return out;
}

std::string number_text(std::int64_t n) {
  std::string digits = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string one_line(std::string_view text, std::size_t max) {
  std::string out;
  bool blank = false;
  for (const char c : text) {
    if (is_blank(c)) {
      blank = !out.empty();
      continue;
    }
    if (blank) out.push_back(' ');
    blank = false;
    out.push_back(c);
    if (out.size() > max + 4) break;  // certainly cut below: the rest of a long text need not be read
  }
  if (out.size() <= max) return out;
  if (max < kEllipsis.size()) return std::string(prefix(out, max));
  std::string_view kept = prefix(out, max - kEllipsis.size());
  while (!kept.empty() && kept.back() == ' ') kept.remove_suffix(1);
  return std::string(kept).append(kEllipsis);
}

bool any_of(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool is_unseen(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Decoded c = decode(text, at);
    constexpr char32_t kBrailleBlank = 0x2800;  // Unicode counts it as a symbol, but it shows nothing
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c.code));
    const bool blank = category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
                       category == UTF8PROC_CATEGORY_ZP || category == UTF8PROC_CATEGORY_CC;
    if (!c.ok || !(blank || is_unseen(c.code) || c.code == kBrailleBlank)) return false;
    at += c.bytes;
  }
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

bool starts_with_nocase(std::string_view text, std::string_view what) {
  return text.size() >= what.size() && std::equal(what.begin(), what.end(), text.begin(),
                                                  [](char a, char b) { return lower(a) == lower(b); });
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Four bytes of UTF-8 are a code beyond U+FFFF, which UTF-16 writes as a pair.
    if (!is_continuation(byte)) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

std::size_t estimate_tokens(std::string_view text) {
  std::size_t ascii = 0, others = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      ++ascii;
    else if (!is_continuation(byte))
      ++others;
  }
  return (ascii + 3) / 4 + others;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded c = decode(text, at);
    columns +=
        c.ok
            ? static_cast<std::size_t>(std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(c.code))))
            : 1;
    at += c.bytes;
  }
  return columns;
}

namespace {

// The positions in `path` where the pattern read so far can end. Each piece of the pattern is one pass over
// the path, so the cost is at most the product of both lengths. A matcher that goes back at each `*` would
// take exponential time for some patterns.
class GlobState {
 public:
  explicit GlobState(std::string_view path) : path_(path), at_(path.size() + 1, false) { at_[0] = true; }

  void literal(char c) {
    step([c](char p) { return p == c; });
  }
  void any_one() {
    step([](char p) { return p != '/'; });
  }
  // `*` or `**`. Ascending, so that each position that is reached reaches the next one in the same pass.
  void run(bool over_slashes) {
    for (std::size_t i = 0; i < path_.size(); ++i)
      if (at_[i] && (over_slashes || path_[i] != '/')) at_[i + 1] = true;
  }
  // Matches `**/`: any number of whole components, each with its '/'. None is possible too: a position that
  // was reached stays reached. Beyond the first one, every position after a '/' can be reached.
  void components() {
    bool reached = false;
    for (std::size_t i = 0; i <= path_.size(); ++i) {
      const bool was = at_[i];
      if (reached && i > 0 && path_[i - 1] == '/') at_[i] = true;
      reached = reached || was;
    }
  }
  void read(std::string_view pattern) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '?') {
        any_one();
      } else if (pattern[i] != '*') {
        literal(pattern[i]);
      } else if (i + 1 >= pattern.size() || pattern[i + 1] != '*') {
        run(false);
      } else if (i + 2 < pattern.size() && pattern[i + 2] == '/') {
        components();
        i += 2;
      } else {
        run(true);
        ++i;
      }
    }
  }
  bool matched() const { return at_.back(); }
  // Whether the pattern ends in front of a '/' of the path: then it names a directory above.
  bool matched_above() const {
    for (std::size_t i = 1; i < path_.size(); ++i)
      if (at_[i] && path_[i] == '/') return true;
    return matched();
  }

 private:
  // One character of the path. Descending, so that at_[i - 1] still has its value from before this piece.
  template <class F>
  void step(F&& fits) {
    for (std::size_t i = path_.size(); i > 0; --i) at_[i] = at_[i - 1] && fits(path_[i - 1]);
    at_[0] = false;
  }

  std::string_view path_;
  std::vector<bool> at_;
};

}  // namespace

bool glob_match(std::string_view pattern, std::string_view path) {
  if (pattern.find('/') == std::string_view::npos) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    path.remove_prefix(path.rfind('/') + 1);
  }
  GlobState state(path);
  state.read(pattern);
  return state.matched();
}

bool glob_covers(std::string_view pattern, std::string_view path) {
  if (pattern.find('/') == std::string_view::npos) {
    const auto parts = split(path, '/');
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return !part.empty() && glob_match(pattern, part); });
  }
  GlobState state(path);
  state.read(pattern);
  return state.matched_above();
}

}  // namespace cairn
