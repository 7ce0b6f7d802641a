// Decides which backups may be removed: those of sessions that are old enough, and the oldest while the
// archive is too large.
//
// All backups of a session are removed together. A pending session is never removed: it has lines that no
// document covers and that were not discarded.
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
  std::int64_t last = 5;       // the newest sessions that always stay, however old
  std::int64_t max_bytes = 0;  // of all files; 0: no limit
  bool ignore_age = false;     // `days` applies even when it is 0: then every age is old enough
};

struct RetentionPlan {
  std::vector<store::SessionBackups> removed;
  std::int64_t bytes = 0;         // of the files to be removed
  std::int64_t pending_kept = 0;  // sessions that stay only because they are pending
};

Result<RetentionPlan> plan_retention(store::Db& db, const Keep& keep, WallTime now);
// In the caller's transaction. The files are unlinked by remove_files().
Status apply_retention(store::Db& db, const RetentionPlan& plan);

// Unlinks files in `directory` whose rows were removed. A file that cannot be unlinked is tried again at the
// next call. Returns the number of files removed.
Result<std::int64_t> remove_files(store::Db& db, os::Disk& disk, const std::string& directory);

}  // namespace cairn::archive
