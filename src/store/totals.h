// Sums over what is remembered, for one project with its links, or for all.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Totals {
  std::int64_t projects = 0, sessions = 0, active_sessions = 0, prompts = 0, summaries = 0, observations = 0;
};
Result<Totals> totals(Db& db, const std::optional<std::string>& project);

struct Statistics {
  Counts sessions_by_status, sessions_by_host, observations_by_type;
  Counts tools;           // the 20 that were used most
  Counts prompts_by_day;  // the last 30 days with any
  std::int64_t contexts_given = 0, tokens_given = 0;
  std::int64_t work_tokens = 0;   // about what the events of its turns took to read
  std::int64_t saved_tokens = 0;  // work_tokens of the turn before each context, minus the context's tokens
};
// Reads only the counts that triggers keep, not the rows themselves.
Result<Statistics> statistics(Db& db, const std::optional<std::string>& project);

// Counts everything again: after rows were copied without their counts.
Status count_again(Db& db);

// The time of the oldest record.
Result<std::optional<WallTime>> remembered_since(Db& db, const std::optional<std::string>& project);
// The last event of any session.
Result<std::optional<WallTime>> last_event(Db& db);

}  // namespace cairn::store
