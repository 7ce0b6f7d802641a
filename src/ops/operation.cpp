#include "ops/operation.h"

#include "intake/place.h"
#include "store/projects.h"

namespace cairn::ops {

const std::vector<Operation>& operations() {
  static const std::vector<Operation> kOperations = {
      {"status", Access::read, status},
      {"context", Access::write,
       show_context},  // writes: open turns get their interim summary, as for a session
      {"show", Access::read, show},
      {"sessions.list", Access::read, sessions_list},
      {"sessions.show", Access::read, sessions_show},
      {"sessions.end", Access::write, sessions_end},
      {"sessions.cleanup", Access::write, sessions_cleanup},
      {"sessions.repair", Access::write, sessions_repair},
      {"queue.list", Access::read, queue_list},
      {"queue.show", Access::read, queue_show},
      {"queue.retry", Access::write, queue_retry},
      {"queue.abort", Access::write, queue_abort},
      {"queue.clean", Access::write, queue_clean},
      {"queue.stats", Access::read, queue_stats},
      {"debug.sql", Access::read, debug_sql},
      {"probe", Access::write, probe},
  };
  return kOperations;
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
    return Error{
        Code::not_found,
        "project \"" + *name + "\" is not remembered: `cairn sessions list --all` shows those that are"};
  }
  const std::string cwd(args["cwd"].as_string());
  const auto name = TRY(store::find_project(world.db, intake::resolve_place("", cwd).key));
  if (!name)
    return Error{Code::not_found,
                 "nothing is remembered of " + (cwd.empty() ? "this directory" : cwd) + " yet"};
  return name;
}

}  // namespace cairn::ops
