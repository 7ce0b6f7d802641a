// Which document follows which: the chain of a project's documents, and what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/documents.h"
#include "store/sql.h"

namespace cairn::documents {

// The name of a document: of an imported one its own, else D12.
std::string name_of(const store::Document& document);

struct Link {
  store::Document document;
  std::vector<std::int64_t> next;  // documents that follow it, oldest first
  // The name of its predecessor when that is missing: never imported, or deleted.
  std::string missing;
  bool in_cycle = false;
  bool forks() const { return next.size() > 1; }
};

struct Chain {
  std::vector<Link> links;  // by date, then by number
  const Link* find(std::int64_t id) const;
  // What is wrong, a sentence each. Empty: every document has at most one successor, and its predecessor.
  std::vector<std::string> problems() const;
};

// Of the documents of a project that are not in the trash.
Result<Chain> read_chain(store::Db& db, const std::string& project);
Chain make_chain(std::vector<store::Document> documents);

// The name of the predecessor of a document; empty: it has none. One in the trash is named too.
Result<std::string> previous_name(store::Db& db, const store::Document& document);

// As a flowchart of Mermaid.
std::string mermaid(const Chain& chain);

}  // namespace cairn::documents
