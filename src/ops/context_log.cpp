#include "ops/operation.h"

namespace cairn::ops {

#define GIVEN_ROWS                                                                                     \
  "SELECT i.created_at_epoch, i.given_at_epoch, s.id, s.content_session_id, i.project, i.event_name, " \
  "i.source, i.tokens, i.characters, i.items, i.id FROM injections i JOIN sdk_sessions s ON s.id = "   \
  "i.session_db_id "

Result<Json> context_log(World& world, const Json& args) {
  const auto project = TRY(project_of(world, args));
  const std::int64_t limit = args["limit"].as_int(20);
  store::Stmt row =
      project
          ? TRY(world.db.query(GIVEN_ROWS "WHERE i.project = ? ORDER BY i.id DESC LIMIT ?", *project, limit))
          : TRY(world.db.query(GIVEN_ROWS "ORDER BY i.id DESC LIMIT ?", limit));
  Json given = Json::array();
  while (TRY(row.step())) {
    auto items = Json::parse(row.text(9));
    given.push(Json::object({{"id", row.integer(10)},
                             {"time", time_or_null(row, 0)},
                             {"given_at", time_or_null(row, 1)},
                             {"given", !row.is_null(1)},
                             {"session", row.text(3)},
                             {"session_number", row.integer(2)},
                             {"project", row.text(4)},
                             {"event", row.text(5)},
                             {"source", row.text(6)},
                             {"tokens", row.integer(7)},
                             {"characters", row.integer(8)},
                             {"items", items ? *std::move(items) : Json::array()}}));
  }
  return Json::object({{"given", given}});
}

}  // namespace cairn::ops
