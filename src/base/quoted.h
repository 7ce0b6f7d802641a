// Stored text between quotation marks, as sentences of ours hold it: "Ran 'make test': passed."
//
// A quote ends at its own mark and nowhere before: no text can leave it and go on in our words.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

// `text` between two `mark`s; when it holds that one itself, between the first of ' " ` that it does not
// hold. When it holds all three, its ` become ' and it stands between two `.
std::string quoted(std::string_view text, char mark = '\'');

// Whether `text` begins with such a quote and goes on with `next` right behind it.
bool begins_quoted(std::string_view text, std::string_view next);

}  // namespace cairn
