// Reads a damaged database row by row and copies what can still be read.
//
// Damage costs the rows it covers, not those beyond it. A row is taken only when it fits the new store: its
// constraints, its references, its texts being text, a payload being what its hash says. Sessions and
// projects whose rows are gone are made again of what their indexes hold, because everything else hangs on
// them.
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

// Copies into `to`, an empty database, and leaves it with the newest schema. A file that is no database at
// all gives nothing. Fails with `unsupported` when the damaged one is of a newer schema, and when `to` cannot
// be written. Index tables are filled by their triggers, not copied.
Result<Salvaged> salvage(const Db::Options& damaged, Db& to, WallTime now);

}  // namespace cairn::store
