// Registers cairn's hooks and tools with a host and removes them, without changing any other byte of its
// files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "host/hooks.h"
#include "os/disk.h"

namespace cairn::cli {

struct InstallPlan {
  std::string settings_file;
  std::string before;  // its bytes; empty with existed = false when there is none
  bool existed = false;
  std::string after;
  bool is_first = false;   // install: nothing of ours is there yet
  bool removes = false;    // the file is deleted, because there was none before the install
  bool uninstall = false;  // the plan removes our entries
  bool whole = false;      // all of the file is ours: there is nothing to keep a copy of
  bool changes() const { return before != after || removes; }
};

// What `install` would write: Entries::with_ours.
Result<InstallPlan> plan_install(const host::Entries& ours, os::Disk& disk, const std::string& settings_file,
                                 const host::HookProgram& program);

// What `uninstall` would write: the bytes from before the install when nothing else has changed since, else
// Entries::without_ours.
Result<InstallPlan> plan_uninstall(const host::Entries& ours, os::Disk& disk,
                                   const std::string& settings_file);

// Writes the plan: atomically, keeping mode and owner, following a symbolic link to its target. The file must
// still be plan.before, else `busy`. The first install leaves a copy of what was there beside the file,
// FILE.cairn-backup, or an empty FILE.cairn-created when there was none; uninstall removes them. A file that
// is all ours has neither; removing it removes the directories that are empty then, up to the host's own.
Status apply_install(os::Disk& disk, const InstallPlan& plan);

// Replaces a file of the user's, or makes one: atomically, keeping mode and owner, following a symbolic link
// to its target. Missing directories are made.
Status write_file(os::Disk& disk, const std::string& path, std::string_view bytes);

}  // namespace cairn::cli
