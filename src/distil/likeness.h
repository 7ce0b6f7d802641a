// Compares two texts by their meaningful words, to see whether they are about the same thing.
//
// Words are folded and stemmed ("tests", "tested" are "test"), identifiers are split (parseHeader is "parse",
// "header"), words without meaning are left out.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cairn::distil {

using Words = std::set<std::string>;

Words key_words(std::string_view text);

// How many of `words` are in `others`.
std::size_t shared(const Words& words, const Words& others);
// Whether most of `words` are in `others`: all of up to three words, 70 % of more.
bool mostly_in(const Words& words, const Words& others);
// Whether each contains most of the other.
bool alike(const Words& a, const Words& b);

// The names of files in a text, without their directories: "src/parser.cpp" is "parser.cpp".
std::set<std::string> named_files(std::string_view text);

}  // namespace cairn::distil
