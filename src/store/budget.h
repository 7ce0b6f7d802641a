// The limit on observations of one session. Beyond it events are kept as evidence, and no more observations
// are made of them. The log warns once when a session comes near the limit.
//
// All within the caller's transaction, on the writer's connection.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "store/observations.h"
#include "store/sql.h"

namespace cairn::store {

struct SessionBudget {
  std::int64_t observations = 1000;  // budget.session_observations
  std::int64_t warn_percent = 80;    // budget.warn_percent

  // Whether all of that text was forgotten: such an observation is not stored again. May be empty.
  std::function<bool(std::string_view text)> was_forgotten = nullptr;

  std::int64_t warn_at() const { return observations * warn_percent / 100; }
};

// The result of storing a batch under the limit.
struct Put {
  std::int64_t left_out = 0;  // observations beyond the limit
  bool near = false;          // with this batch the session came near its limit
};
// Like put_observations(), but stores only as many of the first observations as the limit still allows.
Result<Put> put_within(Db& db, const MemoryId& memory, const std::string& batch,
                       std::vector<Observation> list, const SessionBudget& budget);
// The warning to log, if any.
std::optional<std::string> warning_of(const Put& put, const SessionBudget& budget);

// Whether the session has reached the limit.
Result<bool> is_used_up(Db& db, SessionId session, const SessionBudget& budget);

// Active sessions that are near the limit.
struct NearLimit {
  ContentId session;
  std::int64_t observations = 0;
};
Result<std::vector<NearLimit>> active_near_limit(Db& db, const SessionBudget& budget);

// How many sessions ever came near the limit.
Result<std::int64_t> sessions_near_limit(Db& db);

}  // namespace cairn::store
