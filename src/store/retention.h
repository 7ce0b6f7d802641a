// How long evidence stays: until it is older than `evidence.keep_days`, and while the store is within
// `store.max_gb`. Only what events said is removed, oldest first; that they happened, and what was made of
// them, stays.
//
// Nothing expires because a clock is wrong: the border moves towards its aim by at most one day for each hour
// that the daemon runs.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

struct Retention {
  std::int64_t keep_days = 90;  // 0: for ever
  std::int64_t max_bytes = 0;   // of the database; 0: no limit
};

// Moves the border of age. `running` is the time since this daemon last did. False: it is not worth a write
// yet.
Result<bool> move_border(Db& db, const Retention& retention, WallTime now, Millis running);

// Removes the oldest evidence that is beyond the border, or that does not fit: at most `limit` events, so
// that a transaction stays short. How many that were; 0: there is nothing to remove.
Result<std::int64_t> expire_evidence(Db& db, const Retention& retention, std::int64_t limit);

// The first event whose evidence was not removed.
Result<std::int64_t> evidence_begins(Db& db);

// Whether texts of that turn were removed: it cannot be told again, what was made of it stays as it is.
Result<bool> has_expired(Db& db, SessionId session, std::int64_t prompt_number);

}  // namespace cairn::store
