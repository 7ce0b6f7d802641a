// The one resolver of project identity: where a directory belongs, read from the files of git, without
// running it.
#pragma once

#include <optional>
#include <string>

#include "os/disk.h"
#include "store/projects.h"

namespace cairn::intake {

// The place of a session that began with `project_dir` (may be empty) and `cwd`. Key: the real path of the
// git common directory, so that worktrees and subdirectories are one project; else project_dir; else cwd;
// else "/". Never fails: a directory that is gone or unreadable counts by its name. Costs a handful of stat
// calls: once per session, not per event.
store::Place resolve_place(os::Disk& disk, const std::string& project_dir, const std::string& cwd);

// Whether there is nothing at `path` any more. One that cannot be looked at is not gone.
bool is_gone(os::Disk& disk, const std::string& path);

// The branch checked out in `directory` now; nothing when detached or not a repository.
std::optional<std::string> current_branch(os::Disk& disk, const std::string& directory);

}  // namespace cairn::intake
