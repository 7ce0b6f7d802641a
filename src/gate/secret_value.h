// Whether a word could be a secret at all: it is neither a placeholder nor made of words, but looks drawn by
// lot.
#pragma once

#include <string>
#include <string_view>

namespace cairn::gate {

// `secret` without what spellings of it differ in: backslashes, blanks, quotes and ends of lines. What is
// left stands in `room` when there were any.
std::string_view bare(std::string_view secret, std::string& room);

// What documentation writes where a secret would stand: `<your-key>`, `changeme`, `xxxxxxxx`, `${TOKEN}`, and
// anything that calls itself an example (AKIAIOSFODNN7EXAMPLE). Our own markers are placeholders too.
bool is_placeholder(std::string_view value);

// An identifier, a slug or a sentence: pieces that can be spoken, few digits.
bool is_words(std::string_view value);

// some-class-of-a-style-sheet: words that are joined, and hardly a digit.
bool is_name_of_something(std::string_view value);

// Long and irregular enough that somebody drew it by lot: at least 12 characters.
bool is_random(std::string_view value);

// How many kinds of characters it has: small letters, capitals, digits; signs that people put into passwords
// count twice.
int mixture(std::string_view value);

// What a person chose as a password, where even a name beside it says little: Granite@5813!
bool is_chosen(std::string_view value);

// Eight or more letters and digits, mixed, as in a password that somebody reads out in a sentence. A version,
// a date, the name of an algorithm or of a numbered thing has both, too, and is none.
bool is_mixed_word(std::string_view value);

// v1.2.3, 2026-03-02T10:21, 1000ms, 10.0.0.1
bool is_version_or_time(std::string_view value);

// What a person might choose as a password: a few characters that are not just a word.
bool is_password_like(std::string_view value);

}  // namespace cairn::gate
