#include "store/reindex.h"

#include "ops/operation.h"
#include "store/event_index.h"

namespace cairn::ops {

static Result<Json> reindex(World& world, const Args& args) {
  bool started = false;
  if (!args.flag("status"))
    TRY(store::in_transaction(world.db, [&]() -> Status {
      started = TRY(store::begin_reindex(world.db));
      return {};
    }));
  const auto progress = TRY(store::reindex_progress(world.db));
  const auto calls = TRY(store::event_index_size(world.db));
  return Json::object({{"started", started},
                       {"running", progress.running},
                       {"done", progress.running ? progress.done : progress.all},
                       {"records", progress.all},
                       {"calls", calls.events},
                       {"calls_waiting", calls.waiting},
                       {"calls_bytes", calls.bytes}});
}

std::vector<Operation> reindex_operations() {
  return {{.name = "reindex",
           .access = Access::write,
           .group = Group::diagnostics,
           .summary = "build the search index again from what is remembered",
           .help = "The daemon does it in small steps between other work; searches go on meanwhile. A second "
                   "call says how far it is, and so does --status without starting one. Afterwards the words "
                   "of tool calls and of transcripts are indexed again, the newest first. `cairn process` "
                   "returns when all of it is done.",
           .arguments = {flag("status", "only say how far it is")},
           .body = reindex}};
}

}  // namespace cairn::ops
