#include "store/totals.h"

#include "store/migrations/migrations.h"
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

// Counts of rows are kept in `tallies`, by triggers.
#define TALLIES(what) "tallies WHERE what = '" what "'"

Result<Totals> totals(Db& db, const std::optional<std::string>& project) {
  const auto sum = [&](const std::string& rows) {
    return number(scoped(db, project, "SELECT coalesce(sum(count), 0) FROM " + rows));
  };
  Totals t;
  t.projects = TRY(number(scoped(db, project, "SELECT count(*) FROM projects WHERE true", "name")));
  t.sessions = TRY(sum(TALLIES("session")));
  t.active_sessions = TRY(sum(TALLIES("session") " AND name = 'active'"));
  t.prompts = TRY(sum(TALLIES("prompt")));
  t.summaries = TRY(sum(TALLIES("summary")));
  t.observations = TRY(sum(TALLIES("observation")));
  return t;
}

Result<Statistics> statistics(Db& db, const std::optional<std::string>& project) {
  const auto by = [&](const std::string& rows, std::string_view order) {
    return counts(scoped(db, project, "SELECT name, sum(count) FROM " + rows, "project",
                         " GROUP BY 1 ORDER BY " + std::string(order)));
  };
  const auto sum = [&](const std::string& rows) {
    return number(scoped(db, project, "SELECT coalesce(sum(count), 0) FROM " + rows));
  };
  Statistics s;
  s.sessions_by_status = TRY(by(TALLIES("session"), "2 DESC, 1"));
  s.sessions_by_host = TRY(by(TALLIES("host"), "2 DESC, 1"));
  s.observations_by_type = TRY(by(TALLIES("observation"), "2 DESC, 1"));
  s.tools = TRY(by(TALLIES("tool"), "2 DESC, 1 LIMIT 20"));
  s.prompts_by_day = TRY(by(TALLIES("prompt"), "1 DESC LIMIT 30"));
  s.contexts_given = TRY(sum(TALLIES("given")));
  s.tokens_given = TRY(sum(TALLIES("tokens_given")));
  s.work_tokens = TRY(sum(TALLIES("work_tokens")));
  s.saved_tokens = TRY(sum(TALLIES("saved_tokens")));
  return s;
}

// Runs the texts of two migrations again. The first one empties the table.
Status count_again(Db& db) {
  TRY(db.exec(std::string(kCountTallies)));
  return db.exec(std::string(kCountSavedTokens));
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
