// Finds the uncommitted files of a working tree by reading git's own files: starts no git process, writes
// nothing, and does not follow the repository's configuration (which could run programs).
//
// A file counts as changed when its size or time differs from the index, or when the index differs from the
// last commit in its content, mode or name (it is staged).
#pragma once

#include <string>
#include <vector>

#include "os/disk.h"

namespace cairn::git {

// The changed files of the working tree that `directory` is in, relative to the root of the tree, sorted, at
// most 200: tracked files, and those of `known` (relative paths) that exist and are not in the index. Empty
// when there is no repository, when its index has an unknown form or more than 20,000 files, or when all this
// takes longer than 100 ms. When nearly all of more than 20 files differ from the index, the tree was copied,
// and only staged files count as changed. When the last commit cannot be read in time, staged files are
// missing.
std::vector<std::string> changed_files(os::Disk& disk, const std::string& directory,
                                       const std::vector<std::string>& known);

}  // namespace cairn::git
