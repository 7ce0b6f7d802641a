#include "ops/operation.h"
#include "store/identity.h"
#include "store/sessions.h"

namespace cairn::ops {

// What counts is when a session was last heard of, not when it began.
Result<Json> sessions_cleanup(World& world, const Json& args) {
  const std::int64_t hours = args["max_age_hours"].as_int(24);
  if (hours < 0) return Error{Code::invalid, "sessions cleanup: an age is at least 0 hours"};
  const WallTime now = world.clock.now();
  auto transaction = TRY(store::Transaction::begin(world.db));
  Json marked = Json::array();
  for (const store::Session& session : TRY(store::active_sessions(world.db))) {
    if (session.last_event_at > now - std::chrono::hours(hours)) continue;
    TRY(world.intake->recorder().end(session, "cleanup", now));
    TRY(store::end_session(world.db, session.id, "failed", "cleanup", now));
    marked.push(session.id.value);
  }
  TRY(world.intake->recorder().finish());
  TRY(transaction.commit());
  return Json::object({{"marked", marked.items().size()}, {"sessions", marked}});
}

Result<Json> sessions_repair(World& world, const Json& args) {
  if (!args["missing_memory_id"].as_bool())
    return Error{Code::invalid, "sessions repair: say what to repair: --missing-memory-id"};
  auto transaction = TRY(store::Transaction::begin(world.db));
  Json sessions = Json::array();
  for (const store::Repaired& one : TRY(store::repair_missing_ids(world.db, world.clock.now())))
    sessions.push(Json::object({{"id", one.session.value},
                                {"content_session_id", one.content_id.value},
                                {"memory_session_id", one.memory_id.value}}));
  TRY(transaction.commit());
  return Json::object({{"repaired", sessions.items().size()}, {"sessions", sessions}});
}

}  // namespace cairn::ops
