// The lines of an assistant's answer by what they are: headings, items of lists, text. Code is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "distil/mode.h"

namespace cairn::distil {

struct AnswerLine {
  enum class Kind { blank, heading, item, text, quote };  // quote: "> ..." and rows of tables
  Kind kind = Kind::text;
  std::string text;   // without list marks, heading signs, emphasis around all of it
  std::string rest;   // the text after a heading on the same line: "add the test" in "Next: add the test"
  bool done = false;  // an item that is checked, struck out or marked as done
  int depth = 0;      // of an item: 0 at the top level
};

std::vector<AnswerLine> answer_lines(std::string_view answer, const Mode& mode);

// Whether a heading announces what is left to do: it contains a cue of `mode.headings` and no other
// meaningful word ("Next steps", "What I'd suggest next", not "Remaining files").
bool is_next_heading(std::string_view heading, const Mode& mode);

}  // namespace cairn::distil
