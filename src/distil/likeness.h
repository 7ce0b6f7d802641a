// Whether two texts speak of the same thing: the words that carry meaning, compared.
//
// A pure function of the texts. Words are folded and without their endings ("tests", "tested" are "test"),
// names are taken apart (parseHeader is "parse", "header"), words that say nothing are left out.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cairn::distil {

using Words = std::set<std::string>;

Words key_words(std::string_view text);

// How many of `words` are in `others`.
std::size_t shared(const Words& words, const Words& others);
// Whether most of `words` are in `others`: all of up to three, seven of ten of more.
bool mostly_in(const Words& words, const Words& others);
// Whether each says most of what the other says.
bool alike(const Words& a, const Words& b);

// The names of files in a text, without their directories: "src/parser.cpp" is "parser.cpp".
std::set<std::string> named_files(std::string_view text);

}  // namespace cairn::distil
