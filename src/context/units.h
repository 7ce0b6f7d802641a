// Splits a text into units that can be chosen alone: sentences, list items, rows of tables. Verbatim except
// for marks of lists, headings and emphasis; each on one line, never cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::context {

struct Unit {
  enum class Form { sentence, item, row, code };
  std::string text;
  Form form = Form::sentence;
  std::size_t block = 0;    // sentences of one paragraph have the same number
  int heading = -1;         // index in Split::headings; -1: none
  bool introduces = false;  // ends in a colon: means little alone
  bool continues = false;   // begins with a word that refers back: "This", "It"
};

struct Split {
  std::vector<std::string> headings;  // without signs and colons
  std::vector<Unit> units;            // in the order of the text
};

// Linear. No unit contains a line feed.
Split split_text(std::string_view text);

// For sentences of the distiller: quotes (base/quoted.h, labels) are never split, so that quoted text cannot
// continue as our sentence.
Split split_facts(std::string_view text);

// The sentences of one line.
std::vector<std::string> split_line(std::string_view line);

}  // namespace cairn::context
