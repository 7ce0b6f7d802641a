// The limit on what is learned from one session: beyond it events are kept as evidence and nothing more is
// made of them. Whoever comes near it is told once.
//
// All within the caller's transaction, on the writer's connection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "store/observations.h"
#include "store/sql.h"

namespace cairn::store {

struct SessionBudget {
  std::int64_t observations = 1000;  // budget.session_observations
  std::int64_t warn_percent = 80;    // budget.warn_percent

  std::int64_t warn_at() const { return observations * warn_percent / 100; }
};

// What became of a batch under the limit.
struct Put {
  std::int64_t left_out = 0;  // observations that were one too many
  bool near = false;          // with this batch the session came near its limit
};
// As put_observations(), but only as many as the session may still have, the first ones.
Result<Put> put_within(Db& db, const MemoryId& memory, const std::string& batch,
                       std::vector<Observation> list, const SessionBudget& budget);
// What the log should say of it; nothing most of the time.
std::optional<std::string> warning_of(const Put& put, const SessionBudget& budget);

// Whether a session may have no more.
Result<bool> is_used_up(Db& db, SessionId session, const SessionBudget& budget);

// How many sessions ever came near the limit.
Result<std::int64_t> sessions_near_limit(Db& db);

}  // namespace cairn::store
