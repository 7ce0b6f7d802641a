// Finds the repository of a worktree that was deleted: by what git still knows of it, or by its name.
#pragma once

#include <string>

#include "os/disk.h"

namespace cairn::git {

// The main directory of the repository that `path`, which is gone, was a linked worktree of; empty when
// nothing says so. `branch`: what was checked out there, may be empty.
//
// Looks at the repositories beside it, and beside the directory that it was in. Certain: one lists it among
// its worktrees (git does until `git worktree prune`). Also taken: it was in REPOSITORY.worktrees/ or
// REPOSITORY-worktrees/; or it was called REPOSITORY-NAME, and the repository has the branch, or NAME is the
// end of the branch's name.
std::string repository_of_deleted_worktree(os::Disk& disk, const std::string& path,
                                           const std::string& branch);

}  // namespace cairn::git
