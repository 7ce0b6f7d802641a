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
  std::vector<std::string> shortened;  // sections that did not fit in whole
};

// Markdown. Each section gets what it needs in the order of its worth; what does not fit is counted at its
// end.
Handoff handoff(const HandoffInput& input);

}  // namespace cairn::documents
