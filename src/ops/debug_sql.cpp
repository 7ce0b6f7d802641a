#include <sqlite3.h>

#include <array>

#include "ops/operation.h"

namespace cairn::ops {

// The documented diagnostic queries (docs/reference/debug.md). `?1` is the content session id, where there is
// one.
struct Query {
  std::string_view name;
  std::string_view meaning;
  std::string_view sql;
};

static constexpr std::array kQueries = {
    Query{"ids", "both ids of a session and whether the memory id is captured",
          "SELECT content_session_id, memory_session_id, CASE WHEN memory_session_id IS NULL THEN "
          "'NOT_CAPTURED' ELSE 'CAPTURED' END AS "
          "state FROM sdk_sessions WHERE content_session_id = ?1"},
    Query{"orphans", "observations without a session: always none",
          "SELECT o.id, o.memory_session_id FROM observations o LEFT JOIN sdk_sessions s ON "
          "s.memory_session_id = o.memory_session_id "
          "WHERE s.id IS NULL"},
    Query{"observations", "observations of a session",
          "SELECT o.id, o.type, o.title, o.created_at FROM observations o JOIN sdk_sessions s ON "
          "s.memory_session_id = "
          "o.memory_session_id WHERE s.content_session_id = ?1 ORDER BY o.id"},
    Query{"recent-sessions", "the last five sessions with their memory ids",
          "SELECT id, content_session_id, memory_session_id, status, started_at FROM sdk_sessions ORDER BY "
          "id DESC LIMIT 5"},
    Query{"not-captured", "sessions without a memory id",
          "SELECT id, content_session_id, status, started_at FROM sdk_sessions WHERE memory_session_id IS "
          "NULL ORDER BY id"},
    Query{"last-summary", "the newest summary",
          "SELECT id, memory_session_id, prompt_number, request, created_at FROM session_summaries ORDER BY "
          "created_at DESC, id DESC "
          "LIMIT 1"},
    Query{"active", "sessions that are active",
          "SELECT id, content_session_id, project, started_at FROM sdk_sessions WHERE status = 'active' "
          "ORDER BY id"},
    Query{"observation-counts", "observations per memory id",
          "SELECT memory_session_id, count(*) AS observations FROM observations GROUP BY memory_session_id "
          "ORDER BY 1"},
    Query{"stale-active", "active sessions without an event for 24 hours",
          "SELECT id, content_session_id, started_at FROM sdk_sessions WHERE status = 'active' AND "
          "last_event_at_epoch < "
          "(strftime('%s', 'now') - 86400) * 1000 ORDER BY id"},
};

static Json all_queries() {
  Json list = Json::array();
  for (const Query& query : kQueries)
    list.push(Json::object({{"name", query.name}, {"meaning", query.meaning}, {"sql", query.sql}}));
  return Json::object({{"queries", list}});
}

static Json cell(const store::Stmt& row, int column) {
  return row.is_null(column) ? Json() : Json(row.text(column));
}

static Json column_names(store::Db& db, const Query& query) {
  Json columns = Json::array();
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db.raw(), query.sql.data(), static_cast<int>(query.sql.size()), &raw, nullptr) ==
      SQLITE_OK)
    for (int i = 0; i < sqlite3_column_count(raw); ++i) columns.push(sqlite3_column_name(raw, i));
  sqlite3_finalize(raw);
  return columns;
}

static Result<Json> debug_sql(World& world, const Args& args) {
  const auto name = args.optional_text("name");
  if (!name) return all_queries();
  for (const Query& query : kQueries) {
    if (query.name != *name) continue;
    const bool takes_id = query.sql.find("?1") != std::string_view::npos;
    const auto id = args.optional_text("id");
    if (takes_id && !id)
      return Error{Code::invalid, "debug sql: id is missing: \"" + *name +
                                      "\" is about one session, by the host's id of it"};
    store::Stmt row = takes_id ? TRY(world.db.query(query.sql, *id)) : TRY(world.db.query(query.sql));
    const Json columns = column_names(world.db, query);
    Json rows = Json::array();
    while (TRY(row.step())) {
      Json cells = Json::array();
      for (int i = 0; i < static_cast<int>(columns.items().size()); ++i) cells.push(cell(row, i));
      rows.push(std::move(cells));
    }
    return Json::object({{"name", *name}, {"sql", query.sql}, {"columns", columns}, {"rows", rows}});
  }
  return all_queries();
}

std::vector<Operation> debug_operations() {
  static const std::string kNames = [] {
    std::string names;
    for (const Query& query : kQueries) names.append(names.empty() ? "" : "|").append(query.name);
    return names;
  }();
  return {{.name = "debug.sql",
           .group = Group::inside,
           .summary = "the documented diagnostic queries",
           .help = "Without a name it lists them. Some ask for the host's id of a session.",
           .arguments = {choice("name", kNames, "the query to run").as("NAME").word(),
                         text("id", "the host's id of a session, for queries about one").as("ID").word()},
           .body = debug_sql}};
}

}  // namespace cairn::ops
