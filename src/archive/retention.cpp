#include "archive/retention.h"

#include <algorithm>

namespace cairn::archive {

Result<RetentionPlan> plan_retention(store::Db& db, const Keep& keep, WallTime now) {
  RetentionPlan plan;
  if (keep.days == 0 && keep.max_bytes == 0 && !keep.ignore_age) return plan;
  const auto sessions = TRY(store::session_backups(db));
  std::int64_t total = 0;
  for (const store::SessionBackups& session : sessions) total += session.file_bytes;
  const WallTime expiry_limit = now - std::chrono::hours(24) * keep.days;
  const auto kept = std::min(std::ssize(sessions), static_cast<std::ptrdiff_t>(keep.last));
  // `sessions` has the newest first: from the oldest on, up to those that always stay.
  for (auto session = sessions.rbegin(); session != sessions.rend() - kept; ++session) {
    const bool old = (keep.days > 0 || keep.ignore_age) && session->newest.created_at <= expiry_limit;
    const bool too_much = keep.max_bytes > 0 && total > keep.max_bytes;
    if (!old && !too_much) continue;
    if (session->pending) {
      ++plan.pending_kept;
      continue;
    }
    total -= session->file_bytes;
    plan.bytes += session->file_bytes;
    plan.removed.push_back(*session);
  }
  return plan;
}

Status apply_retention(store::Db& db, const RetentionPlan& plan) {
  for (const store::SessionBackups& session : plan.removed)
    TRY(store::remove_session_backups(db, session.newest.key));
  return {};
}

Result<std::int64_t> remove_files(store::Db& db, os::Disk& disk, const std::string& directory) {
  std::int64_t removed = 0;
  for (const std::string& file : TRY(store::removals(db))) {
    // Unlink first. After a crash in between, the next call finds no file and ends the removal.
    const auto gone = disk.remove(directory + "/" + file);
    if (!gone && gone.error().code != Code::not_found) continue;
    TRY(store::in_transaction(db, [&] { return store::end_removal(db, file); }));
    ++removed;
  }
  return removed;
}

}  // namespace cairn::archive
