// The text from which a session continues a document, within a number of bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "documents/draft.h"
#include "documents/material.h"
#include "documents/tree.h"
#include "store/documents.h"
#include "store/open_items.h"

namespace cairn::documents {

struct ResumeInput {
  store::Document document;
  std::string name;                   // of the document; empty: it is a draft that is not stored
  std::string age;                    // "2 h ago"
  std::optional<Since> since;         // none: its transcript is not archived
  std::vector<std::string> sessions;  // later sessions of the project, a line each
  std::vector<store::OpenItem> open;
  std::vector<std::int64_t> closed;  // items that the document names and that are closed now
  Drift drift;
  std::vector<std::string> wanted;  // only these sections of the document; empty: all
  bool in_context = false;          // for a context, which shows the working tree and open items itself
  std::size_t max_bytes = 16'000;
};

struct Resumed {
  std::string text;
  std::vector<std::string> shortened;  // parts that did not fit
};

// What is new comes first, then the document. The text is never longer than max_bytes.
Resumed resume(const ResumeInput& input);

}  // namespace cairn::documents
