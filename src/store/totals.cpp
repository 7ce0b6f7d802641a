#include "store/totals.h"

#include "store/rows.h"

namespace cairn::store {

// `before` is SQL that ends in a condition; the condition on the project, in `column`, is appended.
static Result<Stmt> scoped(Db& db, const std::optional<std::string>& project, std::string before,
                           std::string_view column = "project", std::string_view after = "") {
  if (!project) return db.query(before.append(after));
  before.append(" AND ").append(column).append(" IN (SELECT member FROM project_scope WHERE project = ?)");
  return db.query(before.append(after), *project);
}

static Result<std::int64_t> number(Result<Stmt> query) {
  Stmt row = TRY(std::move(query));
  return TRY(row.step()) ? row.integer(0) : 0;
}

static std::optional<WallTime> time_of(const std::optional<std::int64_t>& epoch) {
  return epoch ? std::optional(from_epoch_ms(*epoch)) : std::nullopt;
}

Result<Totals> totals(Db& db, const std::optional<std::string>& project) {
  const auto count = [&](const std::string& rows, std::string_view column = "project") {
    return number(scoped(db, project, "SELECT count(*) FROM " + rows, column));
  };
  Totals t;
  t.projects = TRY(count("projects WHERE true", "name"));
  t.sessions = TRY(count("sdk_sessions WHERE hidden = 0"));
  t.active_sessions = TRY(count("sdk_sessions WHERE status = 'active' AND hidden = 0"));
  t.prompts = TRY(count("user_prompts WHERE deleted_at IS NULL"));
  t.summaries = TRY(count("session_summaries WHERE deleted_at IS NULL"));
  t.observations = TRY(count("observations WHERE deleted_at IS NULL"));
  return t;
}

Result<Statistics> statistics(Db& db, const std::optional<std::string>& project) {
  const auto by = [&](const std::string& name, const std::string& rows, std::string_view order,
                      std::string_view column = "project") {
    return counts(scoped(db, project, "SELECT " + name + ", count(*) FROM " + rows, column,
                         " GROUP BY 1 ORDER BY " + std::string(order)));
  };
  Statistics s;
  s.sessions_by_status = TRY(by("status", "sdk_sessions WHERE hidden = 0", "2 DESC, 1"));
  s.sessions_by_host = TRY(by("platform", "sdk_sessions WHERE hidden = 0", "2 DESC, 1"));
  s.observations_by_type = TRY(by("type", "observations WHERE deleted_at IS NULL", "2 DESC, 1"));
  s.tools = TRY(by("e.tool_name",
                   "events e JOIN sdk_sessions s ON s.id = e.session_db_id WHERE e.outcome = 'stored' AND "
                   "e.kind IN ('tool', 'tool_failure') AND e.tool_name IS NOT NULL",
                   "2 DESC, 1 LIMIT 20", "s.project"));
  s.prompts_by_day =
      TRY(by("substr(created_at, 1, 10)", "user_prompts WHERE deleted_at IS NULL", "1 DESC LIMIT 30"));
  constexpr const char* kGiven = " FROM injections WHERE given_at_epoch IS NOT NULL";
  s.contexts_given =
      TRY(number(scoped(db, project, std::string("SELECT count(*)") + kGiven + " AND tokens > 0")));
  s.tokens_given = TRY(number(scoped(db, project, std::string("SELECT sum(tokens)") + kGiven)));
  s.work_tokens = TRY(number(
      scoped(db, project, "SELECT sum(discovery_tokens) FROM session_summaries WHERE deleted_at IS NULL")));
  s.saved_tokens = TRY(number(scoped(
      db, project,
      "SELECT sum(max(0, coalesce((SELECT u.discovery_tokens FROM session_summaries u WHERE u.project = "
      "i.project AND u.deleted_at IS NULL AND u.created_at_epoch <= i.given_at_epoch ORDER BY "
      "u.created_at_epoch DESC LIMIT 1), 0) - i.tokens)) FROM injections i WHERE i.given_at_epoch IS NOT "
      "NULL "
      "AND i.tokens > 0",
      "i.project")));
  return s;
}

Result<std::optional<WallTime>> remembered_since(Db& db, const std::optional<std::string>& project) {
  if (!project) return time_of(TRY(db.integer("SELECT min(started_at_epoch) FROM sdk_sessions")));
  return time_of(
      TRY(db.integer("SELECT min(started_at_epoch) FROM sdk_sessions WHERE project IN (SELECT member FROM "
                     "project_scope WHERE project = ?)",
                     *project)));
}

Result<std::optional<WallTime>> last_event(Db& db) {
  return time_of(TRY(db.integer("SELECT max(last_event_at_epoch) FROM sdk_sessions")));
}

}  // namespace cairn::store
