// Which files of a working tree are changed and not committed, read from git's files: no git process, nothing
// written, none of the repository's configuration obeyed.
//
// A file counts as changed when its size or time is not what the index noted, and when the index has another
// content, mode or name than the last commit (it is staged).
#pragma once

#include <string>
#include <vector>

#include "os/disk.h"

namespace cairn::git {

// The changed files of the working tree around `directory`, relative to it, by name, at most 200: those that
// the index or the last commit knows, and of `known` (relative paths) those that are there and not in the
// index. Empty when there is no repository, its index is of a form not known here, too large (20,000 files)
// or read for longer than 100 ms. When nearly all files differ from the index the tree was copied, not
// changed; when the last commit cannot be read, or not in that time, what is staged is not told.
std::vector<std::string> changed_files(os::Disk& disk, const std::string& directory,
                                       const std::vector<std::string>& known);

}  // namespace cairn::git
