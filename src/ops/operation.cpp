#include "ops/operation.h"

#include <algorithm>

#include "base/text.h"
#include "intake/place.h"
#include "store/projects.h"

namespace cairn::ops {

const std::vector<Operation>& operations() {
  static const std::vector<Operation> kOperations = {
      {"status", Access::read, "", status},
      // Writes: open turns get their interim summary, as for a session.
      {"context", Access::write, "cwd project all budget", show_context},
      {"context.log", Access::read, "cwd project all limit", context_log},
      {"search", Access::read,
       "query cwd project all kind type concept file since until limit offset explain", search},
      {"timeline", Access::read, "id query cwd project all before after", timeline},
      {"why", Access::read, "id full", why},
      {"remember", Access::write, "text title type files cwd project", remember},
      {"show", Access::read, "ids", show},
      {"projects.list", Access::read, "limit", projects_list},
      {"projects.show", Access::read, "cwd project", projects_show},
      {"stats", Access::read, "cwd project all", stats},
      {"sessions.list", Access::read, "cwd project all limit", sessions_list},
      {"sessions.show", Access::read, "id events", sessions_show},
      {"sessions.end", Access::write, "id", sessions_end},
      {"sessions.summarize", Access::write, "id", sessions_summarize},
      {"sessions.cleanup", Access::write, "max_age_hours", sessions_cleanup},
      {"sessions.repair", Access::write, "missing_memory_id", sessions_repair},
      {"queue.list", Access::read, "session status recent limit", queue_list},
      {"queue.show", Access::read, "id", queue_show},
      {"queue.retry", Access::write, "id session stuck older_than_s", queue_retry},
      {"queue.abort", Access::write, "id", queue_abort},
      {"queue.clean", Access::write, "keep", queue_clean},
      {"queue.stats", Access::read, "", queue_stats},
      {"debug.sql", Access::read, "name id", debug_sql},
      {"probe", Access::write, "", probe},
  };
  return kOperations;
}

Result<Json> Operation::run(World& world, const Json& args) const {
  if (!args.is_object() && !args.is_null())
    return Error{Code::invalid, std::string(name) + ": arguments are a JSON object"};
  const auto known = split(arguments, ' ');
  for (const auto& [key, value] : args.members())
    if (key.empty() || std::find(known.begin(), known.end(), key) == known.end())
      return Error{Code::invalid, std::string(name) + ": there is no argument \"" +
                                      one_line(visible(key), 60) + "\": it takes " +
                                      (arguments.empty() ? "none" : std::string(arguments))};
  return body(world, args);
}

Json time_or_null(const store::Stmt& row, int column) {
  return row.is_null(column) ? Json() : Json(iso8601(from_epoch_ms(row.integer(column))));
}

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : operations())
    if (operation.name == name) return &operation;
  return nullptr;
}

Result<std::optional<std::string>> project_of(World& world, const Json& args) {
  if (args["all"].as_bool()) return std::optional<std::string>();
  if (const auto name = args.text("project")) {
    if (TRY(world.db.integer("SELECT 1 FROM projects WHERE name = ?", *name))) return std::optional(*name);
    return Error{Code::not_found,
                 "project \"" + *name + "\" is not remembered: `cairn projects list` shows those that are"};
  }
  const std::string cwd(args["cwd"].as_string());
  const auto name = TRY(store::find_project(world.db, intake::resolve_place(world.disk, "", cwd).key));
  if (!name)
    return Error{Code::not_found,
                 "nothing is remembered of " + (cwd.empty() ? "this directory" : cwd) + " yet"};
  return name;
}

}  // namespace cairn::ops
