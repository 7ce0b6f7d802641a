// Whether a text could be a secret: by its looks alone, and beside a name that tells of one.
#pragma once

#include <string>
#include <string_view>

#include "gate/secrets/chars.h"
#include "gate/secrets/names.h"

namespace cairn::gate {

// `secret` without what spellings of it differ in: backslashes, blanks, quotes and ends of lines. What is
// left stands in `room` when there were any.
std::string_view bare(std::string_view secret, std::string& room);

// What documentation writes where a secret would stand: `<your-key>`, `changeme`, `xxxxxxxx`, `${TOKEN}`, and
// anything that calls itself an example (AKIAIOSFODNN7EXAMPLE). Our own markers are placeholders too.
bool is_placeholder(std::string_view value);

// How much likelier the pairs of letters in `value` are in words than by lot, in quarters of a bit; below 0:
// by lot. Short parts, pairs of capitals (they abbreviate) and a capital behind a small letter (a new word
// begins) say nothing.
int likeness_to_words(std::string_view value);

// An identifier, a slug or a sentence: pieces that can be spoken, few digits.
bool is_words(std::string_view value);

// some-class-of-a-style-sheet: words that are joined, and hardly a digit.
bool is_name_of_something(std::string_view value);

// Long and irregular enough that somebody drew it by lot: at least 12 characters.
bool is_random(std::string_view value);

// The same of letters and digits, where nothing but the value tells: capitals, small letters and digits all
// mixed up. Words that are joined change less often.
bool is_drawn(std::string_view value);

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

bool is_uuid(std::string_view value);

// A path or an address: each of its parts is a name.
bool is_path(std::string_view value);

// A variable, a call, a path or what documentation writes: it stands for a secret and is none. So does the
// word for a password in any language.
bool is_reference(std::string_view value);

// How a value stands beside its name: this decides how much it must look like a secret.
enum class Style {
  quoted,
  env,      // NAME=value
  plain,    // name: value, name = value
  paired,   // set("name", "value")
  beside,   // PASSWORD 'value', the password is value
  loose,    // a blank or a line break between them
  certain,  // the notation alone says that it is one: only placeholders, variables and references are spared
};
bool is_secret(Strength strength, Style style, std::string_view value);

// Whether the name says that this value is something else: the id of a session, a directory.
bool is_named_otherwise(std::string_view name, std::string_view value);

}  // namespace cairn::gate
