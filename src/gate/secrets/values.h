// Judges whether a text could be a secret: by its characters alone, or together with the name beside it.
#pragma once

#include <string>
#include <string_view>

#include "gate/secrets/chars.h"
#include "gate/secrets/names.h"

namespace cairn::gate {

// `secret` without backslashes, blanks, quotes and line ends, which differ between escaped forms of it. The
// result is stored in `room` when something was removed.
std::string_view bare(std::string_view secret, std::string& room);

// Whether it is a placeholder, as documentation writes in place of a secret: `<your-key>`, `changeme`,
// `xxxxxxxx`, `${TOKEN}`, and anything that calls itself an example (AKIAIOSFODNN7EXAMPLE). Our own markers
// are placeholders too.
bool is_placeholder(std::string_view value);

// An identifier, a slug or a sentence: pronounceable pieces, few digits.
bool is_words(std::string_view value);

// some-class-of-a-style-sheet: words that are joined, and hardly a digit.
bool is_name_of_something(std::string_view value);

// Long and irregular enough to be random: at least 12 characters.
bool is_random(std::string_view value);

// The same for letters and digits without a name beside them: capitals, small letters and digits.
bool is_random_code(std::string_view value);

// The same for a token of at least so many characters where tokens are given. Hashes are hex, too: where one
// may stand, a token of hex is longer. A UUID is none.
bool is_random_token(std::string_view value, std::size_t least, std::size_t least_hex = 32);

// How many kinds of characters it has: small letters, capitals, digits; signs that people put into passwords
// count twice.
int mixture(std::string_view value);

// Looks like a password that a person chose, even without a clear name beside it: Granite@5813!
bool is_chosen(std::string_view value);

// Eight or more letters and digits, mixed, as a password in a sentence. Versions, dates, names of algorithms
// and of numbered things do not count.
bool is_mixed_word(std::string_view value);

// What a person might choose as a password: a few characters that are not just a word.
bool is_password_like(std::string_view value);

bool is_uuid(std::string_view value);

// A path or an address: each of its parts is a name.
bool is_path(std::string_view value);

// A variable, a call, a path, a label or a placeholder: it refers to a secret and is not one.
bool is_reference(std::string_view value);

// The word for a password in any language, as forms are labelled: db_password
bool is_label(std::string_view value);

// The notation between a name and its value. It decides how much the value must look like a secret.
enum class Style {
  quoted,
  env,      // NAME=value
  plain,    // name: value, name = value
  paired,   // set("name", "value")
  beside,   // PASSWORD 'value', the password is value
  loose,    // a blank or a line break between them
  certain,  // the notation alone shows a secret: only placeholders, variables and references are kept
};
bool is_secret(Strength strength, Style style, std::string_view value);

// Whether the name shows that this value is something else, such as the id of a session or a directory.
bool is_named_otherwise(std::string_view name, std::string_view value);

}  // namespace cairn::gate
