// Projects by key. The name is what people see and what every row is scoped by.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

// Where a session stands, as the resolver found it.
struct Place {
  std::string key;   // real path of the git common directory, else a directory
  std::string root;  // the main worktree, else that directory
  std::string name;  // its basename; made unique by project_name()
  std::optional<std::string> branch;
  std::optional<std::string> worktree;  // set in a linked worktree: its directory
};

// The project's name, created at the first call: the basename, with its parent ("work/api") when that is
// taken, then numbered.
Result<std::string> project_name(Db& db, const Place& place, WallTime now);

// The name of the project with that key, if it is known.
Result<std::optional<std::string>> find_project(Db& db, const std::string& key);

}  // namespace cairn::store
