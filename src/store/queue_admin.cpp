#include "store/queue_admin.h"

#include "store/evidence.h"

namespace cairn::store {

// A message taken out of a claimed batch may be the one that blocks it: claim it alone from now on.
#define AFRESH                                                                                            \
  "UPDATE pending_messages SET status = 'pending', retry_count = 0, not_before_epoch = 0, last_error = "  \
  "NULL, solo = max(solo, status = 'processing'), batch_id = NULL, batch_size = 0, lease = NULL, "        \
  "lease_until_epoch = NULL, started_processing_at_epoch = NULL, completed_at_epoch = NULL WHERE status " \
  "<> 'processed' "

Result<bool> retry_message(Db& db, MessageId id) {
  TRY(db.run(AFRESH "AND id = ?", id.value));
  return db.changes() == 1;
}

Result<std::int64_t> retry_session(Db& db, SessionId session) {
  TRY(db.run(AFRESH "AND session_db_id = ?", session.value));
  return db.changes();
}

Status end_waits(Db& db) {
  return db.run(
      "UPDATE pending_messages SET not_before_epoch = 0 WHERE status = 'pending' AND not_before_epoch > 0");
}

Result<bool> abort_message(Db& db, MessageId id) {
  {
    Stmt row = TRY(db.query(
        "SELECT event_seq, session_db_id, tool_input, tool_response, extra, created_at_epoch, status FROM "
        "pending_messages WHERE id = ?",
        id.value));
    if (!TRY(row.step())) return false;
    if (row.text(6) != "processed")  // else its texts have moved already
      TRY(keep_evidence(db, row.integer(0), SessionId{row.integer(1)},
                        {row.optional_text(2), row.optional_text(3), row.optional_text(4)},
                        from_epoch_ms(row.integer(5))));
  }
  TRY(db.run("DELETE FROM pending_messages WHERE id = ?", id.value));
  return db.changes() == 1;
}

Result<std::int64_t> clean(Db& db, std::int64_t keep) {
  TRY(
      db.run("DELETE FROM pending_messages WHERE status = 'processed' AND id NOT IN (SELECT id FROM "
             "pending_messages WHERE status = 'processed' ORDER BY completed_at_epoch DESC, id DESC LIMIT ?)",
             keep));
  return db.changes();
}

static Result<QueueCounts> count(Stmt row) {
  QueueCounts counts;
  while (TRY(row.step())) {
    const std::string status = row.text(0);
    if (status == "pending") counts.pending = row.integer(1);
    if (status == "processing") counts.processing = row.integer(1);
    if (status == "processed") counts.processed = row.integer(1);
    if (status == "failed") counts.failed = row.integer(1);
  }
  return counts;
}

Result<QueueCounts> queue_counts(Db& db) {
  return count(TRY(db.query("SELECT status, count(*) FROM pending_messages GROUP BY status")));
}

Result<QueueCounts> queue_counts(Db& db, SessionId session) {
  return count(
      TRY(db.query("SELECT status, count(*) FROM pending_messages WHERE session_db_id = ? GROUP BY status",
                   session.value)));
}

Result<std::vector<SessionId>> sessions_with_work(Db& db) {
  Stmt row =
      TRY(db.query("SELECT DISTINCT session_db_id FROM pending_messages WHERE status IN ('pending', "
                   "'processing') ORDER BY session_db_id"));
  std::vector<SessionId> sessions;
  while (TRY(row.step())) sessions.push_back(SessionId{row.integer(0)});
  return sessions;
}

Result<std::int64_t> stuck_count(Db& db, Millis age, WallTime now) {
  return TRY(db.integer("SELECT count(*) FROM pending_messages WHERE status = 'processing' AND (? OR "
                        "started_processing_at_epoch < ?)",
                        age.count() == 0, epoch_ms(now - age)))
      .value_or(0);
}

Result<std::optional<MessageOwner>> owner_of(Db& db, MessageId id) {
  Stmt row =
      TRY(db.query("SELECT session_db_id, content_session_id FROM pending_messages WHERE id = ?", id.value));
  if (!TRY(row.step())) return std::optional<MessageOwner>();
  return std::optional<MessageOwner>({SessionId{row.integer(0)}, ContentId{row.text(1)}});
}

}  // namespace cairn::store
