// Finds the project of a directory by reading git's files, without running git.
#pragma once

#include <optional>
#include <string>

#include "os/disk.h"
#include "store/projects.h"

namespace cairn::intake {

// The place of a session that began with `project_dir` (may be empty) and `cwd`. Its key is the real path of
// the git common directory, so that worktrees and subdirectories are one project; else project_dir; else cwd;
// else "/". Never fails: a directory that is gone or unreadable is identified by its path. Costs a few stat
// calls, once per session.
store::Place resolve_place(os::Disk& disk, const std::string& project_dir, const std::string& cwd);

// Whether nothing exists at `path`. A path that cannot be checked is not gone.
bool is_gone(os::Disk& disk, const std::string& path);

// The branch checked out in `directory` now; nothing when detached or not a repository.
std::optional<std::string> current_branch(os::Disk& disk, const std::string& directory);

}  // namespace cairn::intake
