#include "ops/operation.h"

namespace cairn::ops {

namespace {

using Name = std::optional<std::string>;  // a project's; nothing: all of them

// `sql` has one parameter: the project, or NULL for all.
Result<std::int64_t> count(store::Db& db, const Name& scope, std::string_view sql) {
  return TRY(db.integer(sql, scope)).value_or(0);
}

Result<Json> by_name(store::Db& db, const Name& scope, std::string_view sql) {
  Json counts = Json::object();
  store::Stmt row = TRY(db.query(sql, scope));
  while (TRY(row.step())) counts.set(row.text(0), row.integer(1));
  return counts;
}

}  // namespace

#define IN_SCOPE_AS(column) \
  "(?1 IS NULL OR " column " IN (SELECT member FROM project_scope WHERE project = ?1))"
#define IN_SCOPE IN_SCOPE_AS("project")

// Reads all rows of the scope. Only people ask for it.
static Result<Json> stats(World& world, const Args& args) {
  const Name scope = TRY(project_of(world, args));
  store::Db& db = world.db;
  Json out = Json::object({{"project", scope}});
  out.set("projects", TRY(count(db, scope, "SELECT count(*) FROM projects WHERE " IN_SCOPE_AS("name"))));
  out.set("sessions",
          TRY(count(db, scope, "SELECT count(*) FROM sdk_sessions WHERE hidden = 0 AND " IN_SCOPE)));
  out.set("sessions_by_status",
          TRY(by_name(db, scope,
                      "SELECT status, count(*) FROM sdk_sessions WHERE hidden = 0 AND " IN_SCOPE
                      " GROUP BY status ORDER BY 2 DESC, 1")));
  out.set("prompts",
          TRY(count(db, scope, "SELECT count(*) FROM user_prompts WHERE deleted_at IS NULL AND " IN_SCOPE)));
  out.set(
      "summaries",
      TRY(count(db, scope, "SELECT count(*) FROM session_summaries WHERE deleted_at IS NULL AND " IN_SCOPE)));
  out.set("observations",
          TRY(count(db, scope, "SELECT count(*) FROM observations WHERE deleted_at IS NULL AND " IN_SCOPE)));
  out.set("observations_by_type", TRY(by_name(db, scope,
                                              "SELECT type, count(*) FROM observations WHERE deleted_at IS "
                                              "NULL AND " IN_SCOPE " GROUP BY type ORDER BY 2 DESC, 1")));
  out.set("tools", TRY(by_name(db, scope,
                               "SELECT e.tool_name, count(*) FROM events e JOIN sdk_sessions s ON s.id = "
                               "e.session_db_id WHERE e.outcome = 'stored' AND e.kind IN ('tool', "
                               "'tool_failure') AND e.tool_name IS NOT NULL AND " IN_SCOPE_AS(
                                   "s.project") " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20")));
  out.set("contexts_given", TRY(count(db, scope,
                                      "SELECT count(*) FROM injections WHERE given_at_epoch IS NOT NULL AND "
                                      "tokens > 0 AND " IN_SCOPE)));
  out.set("tokens_given",
          TRY(count(db, scope,
                    "SELECT sum(tokens) FROM injections WHERE given_at_epoch IS NOT NULL AND " IN_SCOPE)));
  // Prompts per day, for the last 30 days with any.
  out.set("prompts_by_day",
          TRY(by_name(db, scope,
                      "SELECT substr(created_at, 1, 10), count(*) FROM user_prompts WHERE "
                      "deleted_at IS NULL AND " IN_SCOPE " GROUP BY 1 ORDER BY 1 DESC LIMIT 30")));
  return out;
}

std::vector<Operation> stats_operations() {
  return {{.name = "stats",
           .group = Group::memory,
           .summary = "sums over what is remembered of this project",
           .help = "With --all of every project.",
           .scope = Scope::any,
           .body = stats}};
}

}  // namespace cairn::ops
