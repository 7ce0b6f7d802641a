// Finds the repository around a directory by reading git's files: starts no git process, writes nothing, and
// does not follow the repository's configuration.
#pragma once

#include <optional>
#include <string>

#include "os/disk.h"

namespace cairn::git {

struct Repository {
  std::string worktree;   // the directory that holds .git
  std::string directory;  // this worktree's own part of .git
  std::string common;     // the part that all worktrees share
};

// Looks at `directory` and those above it; links are resolved first. Nothing when there is no repository.
// Costs a few calls for each directory above, whatever the length of the path.
std::optional<Repository> find_repository(os::Disk& disk, const std::string& directory);

// The branch that is checked out; nothing when detached. Untrusted text that has not passed the gate.
std::optional<std::string> current_branch(os::Disk& disk, const Repository& repository);

}  // namespace cairn::git
