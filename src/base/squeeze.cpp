#include "base/squeeze.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"

namespace cairn {

// Each character is brought to its normal form alone, without its neighbours. So every byte of the result can
// say which bytes of the input it came from, and a match in the result can be removed from the input:
// 1. Decompose it and fold its case, which separates letters from their accents ("E with acute" is "e" and an
//    accent) and makes wide, bold and other compatible forms usual ones.
// 2. Drop accents and invisible characters.
// 3. Replace a character that looks like one of ASCII by that.
// 4. Drop white space and, for Squeeze::words, punctuation.
// ASCII, which is most of any text, takes a short way.

namespace {

struct Alike {
  char32_t code;
  char as;
};
// Letters of other scripts that look like Latin ones, in lower case or in upper case. Sorted.
constexpr std::array kAlike = std::to_array<Alike>({
    {0x00f8, 'o'}, {0x0131, 'l'}, {0x0142, 'l'}, {0x0237, 'j'}, {0x0251, 'a'}, {0x0261, 'g'},  {0x0269, 'l'},
    {0x026a, 'l'}, {0x028b, 'v'}, {0x03b1, 'a'}, {0x03b2, 'b'}, {0x03b3, 'y'}, {0x03b5, 'e'},  {0x03b6, 'z'},
    {0x03b7, 'n'}, {0x03b9, 'l'}, {0x03ba, 'k'}, {0x03bc, 'm'}, {0x03bd, 'v'}, {0x03bf, 'o'},  {0x03c1, 'p'},
    {0x03c4, 't'}, {0x03c5, 'u'}, {0x03c7, 'x'}, {0x0430, 'a'}, {0x0432, 'b'}, {0x0435, 'e'},  {0x043a, 'k'},
    {0x043c, 'm'}, {0x043d, 'h'}, {0x043e, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0442, 't'},  {0x0443, 'y'},
    {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'l'}, {0x0458, 'j'}, {0x04ae, 'y'}, {0x04af, 'y'},  {0x04bb, 'h'},
    {0x04cf, 'l'}, {0x0501, 'd'}, {0x051b, 'q'}, {0x051d, 'w'}, {0x0570, 'h'}, {0x0578, 'n'},  {0x057d, 'u'},
    {0x0585, 'o'}, {0x13a0, 'd'}, {0x13a1, 'r'}, {0x13a2, 't'}, {0x13a5, 'l'}, {0x13aa, 'a'},  {0x13ac, 'e'},
    {0x13b3, 'w'}, {0x13b7, 'm'}, {0x13bb, 'h'}, {0x13c3, 'z'}, {0x13da, 's'}, {0x13de, 'l'},  {0x13df, 'c'},
    {0x13e2, 'p'}, {0x13e6, 'k'}, {0x1d0f, 'o'}, {0x1d1c, 'u'}, {0x1d20, 'v'}, {0x1d21, 'w'},  {0x1d22, 'z'},
    {0x2010, '-'}, {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'}, {0x2014, '-'}, {0x2018, '\''}, {0x2019, '\''},
    {0x201c, '"'}, {0x201d, '"'}, {0x2212, '-'},
});

char32_t alike(char32_t code) {
  // 0 and O, and 1, I and l, are one each.
  if (code == '0') return 'o';
  if (code == '1' || code == 'i') return 'l';
  if (code < 0x80) return code;
  const auto at = std::lower_bound(kAlike.begin(), kAlike.end(), code,
                                   [](const Alike& one, char32_t wanted) { return one.code < wanted; });
  return at != kAlike.end() && at->code == code ? static_cast<char32_t>(at->as) : code;
}

// Letters, marks and numbers: they are neighbours in the list of categories.
bool is_word(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

bool is_accent(char32_t code) {
  return (code >= 0x300 && code <= 0x36f) || (code >= 0x1ab0 && code <= 0x1aff) ||
         (code >= 0x20d0 && code <= 0x20ff);
}

class SqueezedWriter {
 public:
  SqueezedWriter(Squeezed& out, Squeeze what) : out_(out), what_(what) {}

  void ascii(unsigned char c, std::size_t at) {
    if (c >= 'A' && c <= 'Z') c = static_cast<unsigned char>(c + 32);
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!word && (what_ == Squeeze::words || c <= ' ' || c == 0x7f)) return;
    put(static_cast<char>(alike(c)), at, at + 1);
  }

  void other(utf8proc_int32_t code, std::size_t begin, std::size_t end) {
    std::array<utf8proc_int32_t, 24> parts{};  // the longest decomposition (of U+FDFA) has 18
    int last = 0;
    const auto count =
        utf8proc_decompose_char(code, parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
                                static_cast<utf8proc_option_t>(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE |
                                                               UTF8PROC_CASEFOLD | UTF8PROC_IGNORE),
                                &last);
    // An error is a negative count: then the character is dropped.
    for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(count, parts.size()); ++i)
      part(static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), begin, end);
  }

 private:
  void part(char32_t code, std::size_t begin, std::size_t end) {
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
    if (is_accent(code) || category == UTF8PROC_CATEGORY_CF) return;
    code = alike(code);
    if (code < 0x80) {
      const bool word = (code >= 'a' && code <= 'z') || (code >= '0' && code <= '9');
      if (!word && (what_ == Squeeze::words || code <= ' ')) return;
      return put(static_cast<char>(code), begin, end);
    }
    if (!is_word(category) && (what_ == Squeeze::words || category >= UTF8PROC_CATEGORY_ZS)) return;
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
    for (utf8proc_ssize_t i = 0; i < size; ++i)
      put(static_cast<char>(bytes[static_cast<std::size_t>(i)]), begin, end);
  }

  void put(char c, std::size_t begin, std::size_t end) {
    out_.text += c;
    out_.begin.push_back(static_cast<std::uint32_t>(begin));
    out_.end.push_back(static_cast<std::uint32_t>(end));
  }

  Squeezed& out_;
  Squeeze what_;
};

}  // namespace

Squeezed squeeze(std::string_view text, Squeeze what) {
  Squeezed out;
  SqueezedWriter writer(out, what);
  for (std::size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x80) {
      writer.ascii(c, at++);
      continue;
    }
    utf8proc_int32_t code = 0;
    const auto size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                         static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - at, 4)), &code);
    if (size <= 0) {
      ++at;
      continue;
    }
    writer.other(code, at, at + static_cast<std::size_t>(size));
    at += static_cast<std::size_t>(size);
  }
  return out;
}

std::string squeezed(std::string_view text, Squeeze what) {
  return squeeze(text, what).text;
}

std::string squeezed_hash(std::string_view text) {
  return content_hash(squeezed(text));
}

}  // namespace cairn
