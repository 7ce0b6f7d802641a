// The model's part of several operations: its budget, its problems, its figures.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ops/operation.h"
#include "ops/settings.h"
#include "store/model_calls.h"

namespace cairn::ops {

store::DailyBudget daily_budget(const Settings& settings);
// One sentence for each thing that is wrong with the model: what, why, what to do. Empty when it works, and
// without one. For `status`, `doctor` and the notice at a session's start.
Result<std::vector<std::string>> agent_problems(store::Db& db, const Settings& settings, WallTime now);
// What the model used today, and what waits for it.
Result<Json> model_status(World& world);

}  // namespace cairn::ops
