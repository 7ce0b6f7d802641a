#include "ops/operation.h"
#include "store/model_calls.h"
#include "store/totals.h"

namespace cairn::ops {

static Result<Json> stats(World& world, const Args& args) {
  const auto project = TRY(project_of(world, args));
  const store::Totals totals = TRY(store::totals(world.db, project));
  const store::Statistics sums = TRY(store::statistics(world.db, project));
  const store::Spent spent = TRY(store::spent_on(world.db, project));
  return Json::object({{"project", project},
                       {"projects", totals.projects},
                       {"sessions", totals.sessions},
                       {"sessions_by_status", counts_json(sums.sessions_by_status)},
                       {"sessions_by_host", counts_json(sums.sessions_by_host)},
                       {"prompts", totals.prompts},
                       {"summaries", totals.summaries},
                       {"observations", totals.observations},
                       {"observations_by_type", counts_json(sums.observations_by_type)},
                       {"tools", counts_json(sums.tools)},
                       {"contexts_given", sums.contexts_given},
                       {"tokens_given", sums.tokens_given},
                       {"work_tokens", sums.work_tokens},
                       {"saved_tokens", sums.saved_tokens},
                       {"model", Json::object({{"calls", spent.calls},
                                               {"input_tokens", spent.input_tokens},
                                               {"output_tokens", spent.output_tokens},
                                               {"cached_tokens", spent.cached_tokens},
                                               {"usd", spent.usd},
                                               {"unpriced", spent.unpriced}})},
                       {"prompts_by_day", counts_json(sums.prompts_by_day)}});
}

std::vector<Operation> stats_operations() {
  return {{.name = "stats",
           .access = Access::read_slowly,  // it reads every call of a model
           .group = Group::memory,
           .summary = "sums over what is remembered of this project",
           .help = "With --all of every project.",
           .scope = Scope::any,
           .body = stats}};
}

}  // namespace cairn::ops
