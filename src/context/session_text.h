// The text of one session for the context: its best sentences, within a number of bytes.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "context/choice.h"
#include "context/figures.h"
#include "context/story.h"

namespace cairn::context {

struct SessionText {
  std::string text;
  std::vector<std::string> items;  // ids of the turns that are in it
};

// The newest session: turn by turn, each with its request and the headings of its chosen units. Leaves out
// the sentences in `said`, those that a later turn repeats with other figures, and prefers what `concepts`
// does not know yet. Sessions are written from the newest to the oldest with the same `figures`.
SessionText newest_text(const Story& story, std::size_t room, Concepts& concepts, Figures& figures,
                        const std::set<std::string>& said);

// An earlier session; `place` is its index (0 is the newest). A heading and its best sentences in one
// paragraph.
SessionText earlier_text(const Story& story, std::size_t place, const std::string& heading, std::size_t room,
                         Concepts& concepts, Figures& figures);

// The cost of printing `text`, in bytes of ASCII: other characters count four, because tokens are estimated
// so.
std::size_t cost_of(std::string_view text);

}  // namespace cairn::context
