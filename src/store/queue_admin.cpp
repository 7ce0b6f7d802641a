#include "store/queue_admin.h"

#include "store/evidence.h"
#include "store/rows.h"

namespace cairn::store {

// A message taken out of a claimed batch may be the one that blocks it: claim it alone from now on.
#define AFRESH                                                                                               \
  "UPDATE pending_messages SET status = 'pending', retry_count = 0, not_before_epoch = 0, last_error = "     \
  "NULL, solo = max(solo, status = 'processing'), batch_id = NULL, batch_size = 0, lease = NULL, "           \
  "lease_until_epoch = NULL, started_processing_at_epoch = NULL, completed_at_epoch = NULL WHERE status <> " \
  "'processed' "

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

// A call is due for the index when its message is done; without the message at once.
Result<bool> abort_message(Db& db, MessageId id) {
  const auto message = TRY(find_message(db, id));
  if (!message) return false;
  TRY(db.run("UPDATE evidence SET indexed = ? WHERE event_seq = ? AND indexed = ?",
             static_cast<int>(Indexed::not_yet), message->event_seq, static_cast<int>(Indexed::waits)));
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

static Result<QueueCounts> count(Result<Stmt> query) {
  QueueCounts counted;
  std::int64_t* const by_status[] = {&counted.pending, &counted.processing, &counted.processed,
                                     &counted.failed};
  for (const auto& [status, rows] : TRY(counts(std::move(query))))
    if (const auto known = named<MessageStatus>(status)) *by_status[static_cast<std::size_t>(*known)] = rows;
  return counted;
}

Result<QueueCounts> queue_counts(Db& db) {
  return count(db.query("SELECT status, count(*) FROM pending_messages GROUP BY status"));
}

Result<QueueCounts> queue_counts(Db& db, SessionId session) {
  return count(
      db.query("SELECT status, count(*) FROM pending_messages WHERE session_db_id = ? GROUP BY status",
               session.value));
}

Result<std::vector<SessionId>> sessions_with_work(Db& db) {
  return all<SessionId>(
      db.query("SELECT DISTINCT session_db_id FROM pending_messages WHERE status IN ('pending', "
               "'processing') ORDER BY session_db_id"));
}

Result<std::int64_t> stuck_count(Db& db, Millis age, WallTime now) {
  return TRY(db.integer("SELECT count(*) FROM pending_messages WHERE status = 'processing' AND (? OR "
                        "started_processing_at_epoch < ?)",
                        age.count() == 0, epoch_ms(now - age)))
      .value_or(0);
}

Result<std::optional<WallTime>> oldest_pending(Db& db) {
  const auto at =
      TRY(db.integer("SELECT min(created_at_epoch) FROM pending_messages WHERE status = 'pending'"));
  return at ? std::optional(from_epoch_ms(*at)) : std::nullopt;
}

Result<std::optional<WallTime>> next_retry(Db& db, WallTime now) {
  const auto at = TRY(db.integer(
      "SELECT min(not_before_epoch) FROM pending_messages WHERE status = 'pending' AND not_before_epoch > ?",
      epoch_ms(now)));
  return at ? std::optional(from_epoch_ms(*at)) : std::nullopt;
}

#define MESSAGES                                                                                        \
  "SELECT m.id, m.session_db_id, m.content_session_id, s.project, m.message_type, m.tool_name, m.cwd, " \
  "m.prompt_number, m.status, m.retry_count, m.created_at_epoch, m.started_processing_at_epoch, "       \
  "m.completed_at_epoch, m.last_error, m.last_user_message, m.last_assistant_message, m.event_seq, "    \
  "m.batch_id, m.not_before_epoch, m.solo FROM pending_messages m LEFT JOIN sdk_sessions s ON s.id = "  \
  "m.session_db_id "

static Message read_message(Stmt& row) {
  Message m;
  read_columns(row, m.id, m.session, m.content_id, m.project, m.type, m.tool_name, m.cwd, m.prompt_number,
               m.status, m.retries, m.created_at, m.started_at, m.completed_at, m.last_error,
               m.last_user_message, m.last_assistant_message, m.event_seq, m.batch, m.not_before, m.solo);
  return m;
}

Result<std::optional<Message>> find_message(Db& db, MessageId id) {
  return first(db.query(MESSAGES "WHERE m.id = ?", id), read_message);
}

Result<std::vector<Message>> messages_of(Db& db, const Batch& batch) {
  return all(db.query(MESSAGES "WHERE m.batch_id = ? ORDER BY m.id", batch.id), read_message);
}

Result<std::vector<Message>> list_messages(Db& db, const MessageQuery& q) {
  if (q.processed_after)
    return all(
        db.query(MESSAGES "WHERE m.status = 'processed' AND m.completed_at_epoch > ?1 AND (?2 IS NULL OR "
                          "m.session_db_id = ?2) ORDER BY m.completed_at_epoch DESC, m.id DESC LIMIT ?3",
                 epoch_ms(*q.processed_after), q.session, q.limit),
        read_message);
  const auto status = q.status ? std::optional(name_of(*q.status)) : std::nullopt;
  return all(
      db.query(MESSAGES
               "WHERE (CASE WHEN ?1 IS NULL THEN m.status <> 'processed' ELSE m.status = ?1 END) AND (?2 IS "
               "NULL OR m.session_db_id = ?2) ORDER BY CASE m.status WHEN 'failed' THEN 0 WHEN 'processing' "
               "THEN 1 WHEN 'pending' THEN 2 ELSE 3 END, m.created_at_epoch, m.id LIMIT ?3",
               status, q.session, q.limit),
      read_message);
}

}  // namespace cairn::store
