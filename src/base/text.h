// Makes text from outside safe: valid UTF-8, cut only between characters, without anything that a terminal or
// a model would obey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// `bytes` with every byte sequence that is not UTF-8 (surrogates too) replaced by U+FFFD. Linear; returns the
// input unchanged when it is already UTF-8.
std::string valid_utf8(std::string bytes);
bool is_utf8(std::string_view bytes);

// The longest prefix of valid UTF-8 `text` of at most `max` bytes that ends at a character.
std::string_view prefix(std::string_view text, std::size_t max);
// The longest suffix likewise.
std::string_view suffix(std::string_view text, std::size_t max);

// `text` cut to `max` bytes with a visible marker "… [N bytes cut]" counted in; whole when it fits.
std::string cut(std::string_view text, std::size_t max);

// `text` without control characters (but \n and \t), terminal escape sequences, zero-width and bidirectional
// characters, tag characters, private use characters, and variation selectors except those of emoji. What
// remains is what a person sees. CRLF, CR and Unicode line separators become LF.
std::string visible(std::string_view text);

// `text` on one line: runs of white space are one blank, ends trimmed, cut to `max` bytes with "…".
std::string one_line(std::string_view text, std::size_t max);

// "1,234"
std::string number_text(std::int64_t n);

// Whether `text` is one of `texts`.
bool any_of(std::string_view text, std::initializer_list<std::string_view> texts);

std::string_view trim(std::string_view text);
// Whether a person sees nothing of valid UTF-8 `text`: only white space of any script, and what visible()
// removes.
bool is_unseen(std::string_view text);
// The lines of `text` without LF or CRLF. A line feed at the end of the text begins no further line.
std::vector<std::string_view> lines(std::string_view text);
// The parts between the separators: one more than there are separators, so an empty text has one part.
std::vector<std::string_view> split(std::string_view text, char separator);
bool starts_with_nocase(std::string_view text, std::string_view what);
std::string ascii_lower(std::string_view text);

// The number of UTF-16 code units: hosts limit the length of an answer in these.
std::size_t utf16_length(std::string_view text);

// An estimate of a model's tokens, rather too high: a quarter of the ASCII bytes plus one for each other
// character.
std::size_t estimate_tokens(std::string_view text);

// Columns on a terminal (East Asian wide characters are two, combining marks none).
std::size_t display_width(std::string_view text);

// Glob match over a path: `*` and `?` stop at '/', `**` does not. A pattern without '/' matches the last
// component.
bool glob_match(std::string_view pattern, std::string_view path);
// Whether it matches `path` or a directory above it. Linear in the path.
bool glob_covers(std::string_view pattern, std::string_view path);

}  // namespace cairn
