// A normal form for comparing texts: letters and digits only, in one case, without spacing, accents and
// invisible characters, and with look-alike characters made equal.
//
// What was forgotten or rejected is compared in this form. A paraphrase is another text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

enum class Squeeze {
  words,  // letters and digits
  signs,  // punctuation too: for secrets
};

struct Squeezed {
  std::string text;                       // UTF-8
  std::vector<std::uint32_t> begin, end;  // of each byte of `text`: the character it came from, in bytes
};

// Bytes that are not UTF-8 count as spacing, so that any file can be searched. Linear.
Squeezed squeeze(std::string_view text, Squeeze what = Squeeze::words);
// Its text alone.
std::string squeezed(std::string_view text, Squeeze what = Squeeze::words);
// A hash of squeezed(text).
std::string squeezed_hash(std::string_view text);

}  // namespace cairn
