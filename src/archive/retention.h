// Which backups may go: those of sessions that are old enough, or the oldest while the archive is too large.
//
// A session's backups go together. What is pending never goes: lines that no document covers and that nobody
// discarded.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/disk.h"
#include "store/archive.h"

namespace cairn::archive {

struct Keep {
  std::int64_t days = 0;       // 0: for ever
  std::int64_t last = 5;       // so many of the newest sessions stay, however old
  std::int64_t max_bytes = 0;  // of all files; 0: no limit
  bool everything = false;     // any age is old enough
};

struct RetentionPlan {
  std::vector<store::SessionBackups> removed;
  std::int64_t bytes = 0;         // that become free
  std::int64_t pending_kept = 0;  // sessions that would go if they were not pending
};

Result<RetentionPlan> plan_retention(store::Db& db, const Keep& keep, WallTime now);
// In the caller's transaction. The files are unlinked by remove_files().
Status apply_retention(store::Db& db, const RetentionPlan& plan);

// Unlinks files in `directory` whose rows are gone. One that cannot be unlinked stays for the next time.
// Gives how many are gone.
Result<std::int64_t> remove_files(store::Db& db, os::Disk& disk, const std::string& directory);

}  // namespace cairn::archive
