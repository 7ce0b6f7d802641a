// An assistant's answer taken apart: its sentences, and those that read as findings or as work that remains.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "distil/mode.h"

namespace cairn::distil {

// The sentences of `text`, verbatim but on one line each. Code blocks and tables are left out, list marks and
// headings' signs dropped.
std::vector<std::string> sentences(std::string_view text);

// Whether its last full stop belongs to an abbreviation ("e.g.").
bool ends_abbreviated(std::string_view text);

// Sentences that state a cause, a finding or a decision, in order. A decision names what it was taken over:
// "We decided to wait" alone is none.
struct Statement {
  std::string text;
  bool decision = false;
};
std::vector<Statement> statements(std::string_view answer, const Mode& mode);

// Sentences that say what remains, and the items of a list under a heading that does.
std::vector<std::string> remaining_work(std::string_view answer, const Mode& mode);

// At most `max` bytes of `text`, cut after a sentence or a line where one ends in the second half, else after
// a word.
std::string shorten(std::string_view text, std::size_t max);

}  // namespace cairn::distil
