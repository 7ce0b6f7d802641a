// How long evidence stays: `evidence.keep_days`, and as long as the store is smaller than `store.max_gb`.
// Only the texts of events are removed, oldest first: by the time of the event, which for an imported one is
// long before it was stored. The rows of the events, and the observations and summaries made from them, stay.
//
// A wrong clock cannot expire everything at once: the expiry limit moves by at most one day for each hour
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

// Moves the expiry limit: evidence older than it expires. `running` is the time since this daemon last moved
// it. False: the change is too small to write.
Result<bool> move_expiry_limit(Db& db, const Retention& retention, WallTime now, Millis running);

// Removes the oldest evidence that is older than the expiry limit, or more than the store may hold: at most
// `limit` events, so that the transaction stays short. Returns how many; 0: nothing to remove.
Result<std::int64_t> expire_evidence(Db& db, const Retention& retention, std::int64_t limit);

// Removes the evidence of imported sessions that are read to their end and archived: the archive has the same
// texts. At most `limit` events; returns how many.
Result<std::int64_t> expire_imported(Db& db, std::int64_t limit);

// Whether texts of that turn were removed. Such a turn is not distilled again: its observations and summary
// stay as they are.
Result<bool> has_expired(Db& db, SessionId session, std::int64_t prompt_number);

}  // namespace cairn::store
