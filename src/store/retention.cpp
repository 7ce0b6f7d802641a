#include "store/retention.h"

#include <algorithm>
#include <cstdlib>

#include "store/evidence.h"
#include "store/meta.h"
#include "store/rows.h"

namespace cairn::store {

static constexpr std::int64_t kHourMs = 3'600'000;
static constexpr std::int64_t kDayMs = 86'400'000;
static constexpr std::int64_t kHoursInDay = 24;

// Forwards by at most 24 times the time that passed, which is a day an hour; backwards at once, when the
// clock is set right again. The first limit is the aim itself.
Result<bool> move_expiry_limit(Db& db, const Retention& retention, WallTime now, Millis running) {
  const auto known = TRY(meta_number(db, kEvidenceExpiryLimit));
  if (retention.keep_days == 0) {
    if (known) TRY(delete_meta(db, kEvidenceExpiryLimit));
    return known.has_value();
  }
  const std::int64_t aim = epoch_ms(now) - retention.keep_days * kDayMs;
  const std::int64_t expiry_limit = std::min(aim, known.value_or(aim) + running.count() * kHoursInDay);
  if (known && std::abs(expiry_limit - *known) < kHourMs) return false;  // an idle daemon does not write
  TRY(put_meta(db, kEvidenceExpiryLimit, expiry_limit));
  return true;
}

// Free pages do not count: they are used again before the file grows.
static Result<bool> is_too_large(Db& db, std::int64_t max_bytes) {
  if (max_bytes == 0) return false;
  const std::int64_t pages = TRY(db.integer("PRAGMA page_count")).value_or(0);
  const std::int64_t unused = TRY(db.integer("PRAGMA freelist_count")).value_or(0);
  return (pages - unused) * TRY(db.integer("PRAGMA page_size")).value_or(0) > max_bytes;
}

static Status remove_texts(Db& db, const std::vector<std::int64_t>& events) {
  for (const std::int64_t event : events) {
    TRY(
        db.run("UPDATE turns SET expired = 1 WHERE (session_db_id, prompt_number) = (SELECT session_db_id, "
               "prompt_number FROM events WHERE seq = ?) AND NOT expired",
               event));
    TRY(delete_evidence(db, event));
  }
  return {};
}

// What the queue still needs stays.
#define IS_DONE                                                                                \
  "NOT EXISTS (SELECT 1 FROM pending_messages m WHERE m.event_seq = v.event_seq AND m.status " \
  "<> 'processed')"

Result<std::int64_t> expire_imported(Db& db, std::int64_t limit) {
  const auto events = TRY(all<std::int64_t>(db.query(
      "SELECT v.event_seq FROM sdk_sessions s JOIN evidence v ON v.session_db_id = s.id WHERE s.imported AND "
      "EXISTS (SELECT 1 FROM backups b WHERE b.platform = s.platform AND b.content_session_id = "
      "s.content_session_id) AND NOT EXISTS (SELECT 1 FROM imports i WHERE i.state = 'reading' AND "
      "i.content_session_id = s.content_session_id) AND " IS_DONE " LIMIT ?",
      limit)));
  TRY(remove_texts(db, events));
  return static_cast<std::int64_t>(events.size());
}

Result<std::int64_t> expire_evidence(Db& db, const Retention& retention, std::int64_t limit) {
  const bool any_age = TRY(is_too_large(db, retention.max_bytes));
  const std::int64_t expiry_limit = TRY(meta_number(db, kEvidenceExpiryLimit)).value_or(INT64_MIN);
  Stmt row = TRY(db.query("SELECT event_seq, created_at_epoch FROM evidence v WHERE " IS_DONE
                          " ORDER BY created_at_epoch, event_seq LIMIT ?",
                          limit));
  std::vector<std::int64_t> rows;
  // Ordered by time: the first that is young enough ends the loop.
  while (TRY(row.step()) && (any_age || row.integer(1) < expiry_limit)) rows.push_back(row.integer(0));
  TRY(remove_texts(db, rows));
  return static_cast<std::int64_t>(rows.size());
}

Result<bool> has_expired(Db& db, SessionId session, std::int64_t prompt_number) {
  return TRY(db.integer("SELECT expired FROM turns WHERE session_db_id = ? AND prompt_number = ?",
                        session.value, prompt_number))
             .value_or(0) != 0;
}

}  // namespace cairn::store
