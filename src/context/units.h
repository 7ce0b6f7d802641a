// A text taken apart into what can be chosen alone: sentences, list items, rows of tables. Verbatim but for
// marks of lists, headings and emphasis, each on one line, never cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::context {

struct Unit {
  enum class Form { sentence, item, row, code };
  std::string text;
  Form form = Form::sentence;
  std::size_t block = 0;    // sentences of one paragraph have the same
  int heading = -1;         // what it stands under, a place in Split::headings; -1: nothing
  bool introduces = false;  // ends in a colon: says little alone
  bool continues = false;   // begins with a word that points back: "This", "It"
};

struct Split {
  std::vector<std::string> headings;  // without their signs and colons
  std::vector<Unit> units;            // in the order of the text
};

// Linear. Whatever the text is, nothing in the result has a line feed.
Split split_text(std::string_view text);

// Words of the distiller: sentences only, and what it quotes (base/quoted.h, labels) is never taken apart, so
// that no text can leave its quote and go on in our words.
Split split_facts(std::string_view text);

// The sentences of one line.
std::vector<std::string> split_line(std::string_view line);

}  // namespace cairn::context
