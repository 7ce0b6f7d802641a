// Every text that the store holds, whatever the table: for looking for what should not be there.
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

// Visits every text and every blob of every table but the index's own. Reads in pieces and holds no
// transaction between them.
Status walk_texts(Db& db, const std::function<void(const StoredText&)>& visit);

}  // namespace cairn::store
