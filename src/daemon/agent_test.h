// `cairn agent test`: one call of a provider, outside of the queue and of every session. It is in the ledger
// of calls, and is not made when the day's budget does not allow it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/provider.h"
#include "base/json.h"
#include "base/result.h"
#include "os/clock.h"
#include "store/model_calls.h"
#include "store/sql.h"

namespace cairn::daemon {

// Belongs to the writer's thread.
class AgentTest {
 public:
  struct Limits {
    store::DailyBudget daily;
    std::vector<std::string> prices;  // agent.prices
  };
  // `provider` is null for the built-in distiller, which asks no model.
  AgentTest(std::unique_ptr<agent::Provider> provider, store::Db& db, os::Clock& clock, Limits limits);

  // The first call sends the prompt. Returns nothing until there is a result or the time is over.
  Result<std::optional<Json>> step();

 private:
  Result<std::string> send();
  Status end_call(store::ModelCallOutcome outcome, const agent::Usage* usage);
  Json report(const agent::Usage& usage) const;

  std::unique_ptr<agent::Provider> provider_;
  std::unique_ptr<agent::Conversation> conversation_;  // ends before its provider
  store::Db& db_;
  os::Clock& clock_;
  Limits limits_;
  std::int64_t began_;
  std::int64_t call_ = 0;  // in the ledger
};

}  // namespace cairn::daemon
