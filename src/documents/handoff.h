// What another coding agent needs to go on with a session: goal, state, what is open, files, what did not
// work, within a number of tokens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "documents/draft.h"
#include "documents/material.h"

namespace cairn::documents {

struct HandoffInput {
  Material material;
  std::vector<store::OpenItem> open;
  TreeState tree;
  std::string from;  // the host of the session, as people call it
  std::string to;    // the host that goes on; empty: any
  std::string age;   // "2 h ago"
  std::size_t max_tokens = 1'200;
};

struct Handoff {
  std::string text;
  std::size_t tokens = 0;
  std::vector<std::string> shortened;  // sections of which some items did not fit
};

// Markdown. The more useful a section is, the earlier it gets its space. A section says at its end how many
// of its items did not fit.
Handoff handoff(const HandoffInput& input);

}  // namespace cairn::documents
