// The ledger of model calls, and the daily budget.
//
// A call is reserved before it is made, with the most that it can use. The reservation is refused when the
// day's sum would cross the budget; so the budget holds even if every call uses all it can, and if the daemon
// dies in between. Days are UTC. Every function runs in the caller's transaction; those that only read may
// use a reader's connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct DailyBudget {
  std::int64_t tokens = 0;            // budget.daily_tokens; 0: no limit
  double usd = 0;                     // budget.daily_usd; 0: no limit
  std::int64_t backlog_percent = 20;  // budget.backlog_percent: the share of both for backlog
  std::int64_t warn_percent = 80;     // budget.warn_percent
};

struct NewCall {
  std::string provider, model;
  CallPurpose purpose = CallPurpose::turn;
  std::optional<SessionId> session;
  std::string batch;
  std::int64_t events = 0;
  std::int64_t input_tokens = 0, output_tokens = 0;  // the most it can use
  std::optional<double> cost_usd;                    // the most it can cost; nothing: no price is known
};

// Either the number of the reserved call, or why it must not be made: one sentence for people.
struct Reserved {
  std::int64_t id = 0;
  std::string refused;
};
Result<Reserved> reserve_call(Db& db, const NewCall& call, const DailyBudget& budget, WallTime now);

struct CallEnd {
  ModelCallOutcome outcome = ModelCallOutcome::ok;
  std::string model;  // that answered; empty: as reserved
  std::int64_t input_tokens = 0, output_tokens = 0, cached_tokens = 0;
  std::optional<double> cost_usd;
  bool estimated = false;  // keep the reserved tokens and cost: what was used is not known
  Millis duration{0};
};
// Ends a call. What it really used replaces what was reserved.
Status end_call(Db& db, std::int64_t id, const CallEnd& end);
// Ends the calls that a dead daemon left open. Returns how many.
Result<std::int64_t> end_lost_calls(Db& db);

struct Spent {
  std::int64_t calls = 0, input_tokens = 0, output_tokens = 0, cached_tokens = 0;
  double usd = 0;
  std::int64_t unpriced = 0;  // calls without a known cost

  std::int64_t tokens() const { return input_tokens + output_tokens; }
};
Result<Spent> spent_today(Db& db, WallTime now);
// Since `since`, or of all time.
Result<Spent> spent_since(Db& db, const std::optional<WallTime>& since);

// For a project with its links, or for all.
Result<Spent> spent_on(Db& db, const std::optional<std::string>& project);

// One sentence when the day's budget is used up or nearly: what, how much, what to do.
Result<std::optional<std::string>> budget_sentence(Db& db, const DailyBudget& budget, WallTime now);

// By how many tokens calls of that provider exceeded what was reserved for them, lately.
Result<std::int64_t> most_excess(Db& db, const std::string& provider);

// Why a provider is not used at the moment.
struct AgentTrouble {
  std::string provider;
  ModelCallOutcome kind = ModelCallOutcome::transient;
  std::string reason;
  WallTime since;
  std::optional<WallTime> until;  // when it is tried again
};
Status put_agent_trouble(Db& db, const AgentTrouble& trouble);
Status clear_agent_trouble(Db& db);
Result<std::optional<AgentTrouble>> agent_trouble(Db& db);
// The trouble in one sentence: what, why, what happens to events, what to do.
std::string trouble_sentence(const AgentTrouble& trouble);

}  // namespace cairn::store
