// Moves what is remembered from one project to another, and gives a project another path.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/projects.h"
#include "store/sql.h"

namespace cairn::store {

// Moves every row of `from` to `into`, in the caller's transaction. `from` is gone afterwards; its path and
// its name lead to `into`. Returns the number of rows. A link only shows both: this cannot be taken back.
Result<std::int64_t> merge_projects(Db& db, const Project& from, const Project& into, WallTime now);

// Makes sessions at `path` belong to the project from now on. Fails with `invalid` when another project is
// there.
Status add_alias(Db& db, const Project& project, const std::string& key, const std::string& path,
                 WallTime now);

// Moves the sessions that worked in `path` or below it, with all their rows, from one project to another.
// Returns how many sessions.
Result<std::int64_t> move_sessions(Db& db, const Project& from, const Project& to, const std::string& path);

}  // namespace cairn::store
