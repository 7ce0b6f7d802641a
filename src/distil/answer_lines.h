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
  std::string rest;   // of a heading that goes on in its line: "Next: add the test" is "Next" and the rest
  bool done = false;  // an item that is checked, struck out or marked as done
  int depth = 0;      // of an item: 0 when no other stands above it
};

std::vector<AnswerLine> answer_lines(std::string_view answer, const Mode& mode);

// Whether a heading announces what is left to do: it says a cue of `mode.headings` and nothing else that
// tells something ("Next steps", "What I'd suggest next", not "Remaining files").
bool is_next_heading(std::string_view heading, const Mode& mode);

}  // namespace cairn::distil
