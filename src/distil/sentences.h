// Splits an assistant's answer into sentences, and finds those that state findings or remaining work.
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

// Sentences that state a cause, a finding or a decision, in order. A decision must name the rejected
// alternative: "We decided to wait" alone does not count.
struct Statement {
  std::string text;
  bool decision = false;
};
std::vector<Statement> statements(std::string_view answer, const Mode& mode);

// Sentences about remaining work, and the items of lists under such a heading.
std::vector<std::string> remaining_work(std::string_view answer, const Mode& mode);

// At most `max` bytes of `text`, cut after a sentence or a line where one ends in the second half, else after
// a word.
std::string shorten(std::string_view text, std::size_t max);

}  // namespace cairn::distil
