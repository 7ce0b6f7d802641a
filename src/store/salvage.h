// Reads a damaged database row by row and copies what can still be read.
// Damage costs the rows it covers, not those after it. A row is copied only when it is valid in the new
// store: constraints and references hold, texts are UTF-8, a payload matches its hash. Sessions and projects
// whose rows are lost are rebuilt from their indexes, because all other rows refer to them.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct Salvaged {
  std::int64_t kept = 0;     // rows
  std::int64_t refused = 0;  // rows that could be read but did not fit
  std::int64_t gaps = 0;     // places that could not be read
};

// Copies into `to`, an empty database, and leaves it with the newest schema. A file that is not a database
// gives no rows. Fails with `unsupported` when the damaged one has a newer schema, and when `to` cannot be
// written. The search index is not copied: triggers fill it.
Result<Salvaged> salvage(const Db::Options& damaged, Db& to, WallTime now);

}  // namespace cairn::store
