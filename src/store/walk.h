// Visits every text in the store, in all tables: to search for secrets that should not be there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

struct StoredText {
  std::string table, column;
  std::int64_t row = 0;  // its rowid; 0 in a table without
  std::string text;      // decompressed
};

// Visits every text and every blob of every table except the search index's own. Reads in pieces, with no
// transaction open between them.
Status walk_texts(Db& db, const std::function<void(const StoredText&)>& visit);

}  // namespace cairn::store
