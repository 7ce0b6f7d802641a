#include "ops/operation.h"

namespace cairn::ops {

#define PROJECT_ROWS                                                                         \
  "SELECT p.name, p.root, p.key, p.created_at_epoch, "                                       \
  "(SELECT count(*) FROM sdk_sessions WHERE project = p.name AND hidden = 0), "              \
  "(SELECT count(*) FROM user_prompts WHERE project = p.name AND deleted_at IS NULL), "      \
  "(SELECT count(*) FROM session_summaries WHERE project = p.name AND deleted_at IS NULL), " \
  "(SELECT count(*) FROM observations WHERE project = p.name AND deleted_at IS NULL), "      \
  "(SELECT max(last_event_at_epoch) FROM sdk_sessions WHERE project = p.name) AS last FROM projects p "

static Json project_row(const store::Stmt& row) {
  return Json::object({{"name", row.text(0)},
                       {"root", row.text(1)},
                       {"key", row.text(2)},
                       {"remembered_since", time_or_null(row, 3)},
                       {"sessions", row.integer(4)},
                       {"prompts", row.integer(5)},
                       {"summaries", row.integer(6)},
                       {"observations", row.integer(7)},
                       {"last_event_at", time_or_null(row, 8)}});
}

static Result<Json> projects_list(World& world, const Args& args) {
  store::Stmt row =
      TRY(world.db.query(PROJECT_ROWS "ORDER BY last DESC, p.id DESC LIMIT ?", args.integer("limit")));
  Json projects = Json::array();
  while (TRY(row.step())) projects.push(project_row(row));
  return Json::object({{"projects", projects}});
}

static Result<Json> projects_show(World& world, const Args& args) {
  const std::string name = TRY(one_project(world, args));
  store::Stmt row = TRY(world.db.query(PROJECT_ROWS "WHERE p.name = ?", name));
  if (!TRY(row.step())) return Error{Code::not_found, "project \"" + name + "\" is not remembered"};
  Json out = project_row(row);
  const auto list = [&](std::string_view sql) -> Result<Json> {
    Json items = Json::array();
    store::Stmt item = TRY(world.db.query(sql, name));
    while (TRY(item.step())) items.push(item.text(0));
    return items;
  };
  out.set("branches",
          TRY(list("SELECT DISTINCT branch FROM sdk_sessions WHERE project = ? AND branch IS NOT NULL "
                   "ORDER BY branch LIMIT 50")));
  out.set("worktrees",
          TRY(list("SELECT DISTINCT worktree FROM sdk_sessions WHERE project = ? AND worktree IS NOT "
                   "NULL ORDER BY worktree LIMIT 50")));
  const Json newest = Json::object({{"project", name}, {"limit", 5}});
  out.set("recent_sessions", TRY(run_operation("sessions.list", world, newest))["sessions"]);
  return out;
}

std::vector<Operation> project_operations() {
  return {
      {.name = "projects.list",
       .group = Group::memory,
       .summary = "every project, the last one used first",
       .arguments = {integer("limit", 1, kMostRows, "at most N rows").otherwise(100)},
       .body = projects_list},
      {.name = "projects.show",
       .group = Group::memory,
       .summary = "one project: where it is and what is remembered of it",
       .help = "Without a name the current directory's.",
       .scope = Scope::one,
       .arguments = {text("project", "the project of that name").as("NAME").word()},
       .body = projects_show},
  };
}

}  // namespace cairn::ops
