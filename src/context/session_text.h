// A session in its own words: the best of what was said in it, within a number of bytes.
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

// The newest session: turn by turn with the request of each, under the headings of what was chosen. What
// `concepts` knows is not said again, nor are the sentences in `said`, nor what a later turn says
// with other figures. Sessions are written from the newest to the oldest with the same `figures`.
SessionText newest_text(const Story& story, std::size_t room, Concepts& concepts, Figures& figures,
                        const std::set<std::string>& said);

// An earlier one, at `place` among all: a heading and its best sentences in one paragraph.
SessionText earlier_text(const Story& story, std::size_t place, const std::string& heading, std::size_t room,
                         Concepts& concepts, Figures& figures);

// What printing it costs: bytes, but four for every character beyond ASCII, as tokens are estimated.
std::size_t cost_of(std::string_view text);

}  // namespace cairn::context
