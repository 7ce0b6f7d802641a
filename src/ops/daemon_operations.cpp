#include "ops/operation.h"
#include "store/meta.h"

namespace cairn::ops {

// Never committed: the transaction is rolled back at the end of the scope.
Status write_probe(store::Db& db) {
  auto transaction = TRY(store::Transaction::begin(db));
  return store::put_meta(db, "probe", "1");
}

static Result<Json> probe(World& world, const Args&) {
  TRY(write_probe(world.db));
  return Json::object({{"written", true}});
}

// Declared here, run by daemon/dispatcher.cpp.
std::vector<Operation> daemon_operations() {
  return {
      {.name = "process",
       .access = Access::daemon,
       .group = Group::work,
       .summary = "read the inbox and process the queue now",
       .arguments = {flag("wait", "also end open turns; return when nothing is pending"),
                     flag("again", "also try quarantined events again")},
       .task = Task::process},
      {.name = "probe",
       .access = Access::write,
       .summary = "write to the store and roll back",
       .body = probe},
      {.name = "ping", .access = Access::daemon, .summary = "whether the daemon answers", .task = Task::ping},
      {.name = "reload", .access = Access::daemon, .summary = "read config.toml again", .task = Task::reload},
      {.name = "stop",
       .access = Access::daemon,
       .summary = "end the daemon after its current work",
       .task = Task::stop},
  };
}

}  // namespace cairn::ops
