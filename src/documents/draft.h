// Writes a document without a model: the sections of the template, filled from what happened.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "documents/material.h"
#include "documents/template.h"
#include "documents/text.h"
#include "store/open_items.h"

namespace cairn::documents {

// What the working tree is like.
struct TreeState {
  std::string branch;                    // empty: not known
  std::string head;                      // the commit that is checked out, in hex; empty: not known
  std::vector<std::string> uncommitted;  // files
};

struct DraftInput {
  Material material;
  std::vector<store::OpenItem> open;
  TreeState tree;
  std::string summary;  // a person's words in place of the drafted summary; empty: none
};

// The body of a document. A required section without content gets the text "None.".
std::string draft(const DraftInput& input, const Template& form);

// The block that coalescing appends to a document.
Section continuation(const Since& since, std::string_view backup, WallTime at);

// "- a\n- b\n", at most `max` items and then "- and N more".
std::string bullets(const std::vector<std::string>& items, std::size_t max);
// An open item as a line of a list of tasks: "- [ ] text (W3)".
std::string task_line(const store::OpenItem& item);

}  // namespace cairn::documents
