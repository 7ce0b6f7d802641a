#include "ops/operation.h"
#include "store/identity.h"
#include "store/sessions.h"

namespace cairn::ops {

// A session counts as old by its last event, not by its start: a long one is still at work.
static Result<Json> sessions_cleanup(World& world, const Args& args) {
  const std::int64_t hours = args.integer("max_age");
  const WallTime now = world.clock.now();
  auto transaction = TRY(store::Transaction::begin(world.db));
  Json marked = Json::array();
  for (const store::Session& session : TRY(store::active_sessions(world.db))) {
    if (session.last_event_at > now - std::chrono::hours(hours)) continue;
    TRY(world.intake->recorder().end(session, "cleanup", now));
    // end() may have made it `completed`, but how it ended is not known.
    TRY(store::mark_failed(world.db, session.id));
    marked.push(session.id.value);
  }
  TRY(world.intake->recorder().finish());  // distils the turns that this ended
  TRY(transaction.commit());
  return Json::object({{"marked", marked.items().size()}, {"sessions", marked}});
}

static Result<Json> sessions_repair(World& world, const Args&) {
  auto transaction = TRY(store::Transaction::begin(world.db));
  Json sessions = Json::array();
  for (const store::Repaired& one : TRY(store::repair_missing_ids(world.db, world.clock.now())))
    sessions.push(Json::object({{"id", one.session.value},
                                {"content_session_id", one.content_id.value},
                                {"memory_session_id", one.memory_id.value}}));
  TRY(transaction.commit());
  return Json::object({{"repaired", sessions.items().size()}, {"sessions", sessions}});
}

std::vector<Operation> session_repair_operations() {
  return {
      {.name = "sessions.cleanup",
       .access = Access::write,
       .group = Group::memory,
       .summary = "mark old active sessions as interrupted",
       .help =
           "What counts is a session's last event, not when it began. One that goes on after all is opened "
           "again by its next prompt.",
       .arguments = {integer("max_age", 0, 1'000'000, "without an event for this many hours")
                         .as("HOURS")
                         .otherwise(24)},
       .body = sessions_cleanup},
      {.name = "sessions.repair",
       .access = Access::write,
       .group = Group::memory,
       .summary = "give sessions a memory id that never got one",
       .help = "Each gets an id that begins with manual-, never the host's. It is replaced when a provider "
               "captures its own. `cairn debug sql not-captured` shows which sessions it would be.",
       .arguments = {flag("missing_memory_id", "give sessions without a memory id one of their own")},
       .one_of = "missing_memory_id",
       .body = sessions_repair},
  };
}

}  // namespace cairn::ops
