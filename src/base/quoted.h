// Puts stored text in quotation marks inside our sentences: "Ran 'make test': passed."
//
// The text cannot contain its own closing mark, so it cannot end the quote and continue as our sentence.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

// `text` between two `mark`s. When it contains that mark, the first of ' " ` that it does not contain is
// used. When it contains all three, its ` become ' and the mark is `.
std::string quoted(std::string_view text, char mark = '\'');

// Whether `text` begins with such a quote, directly followed by `next`.
bool begins_quoted(std::string_view text, std::string_view next);

}  // namespace cairn
