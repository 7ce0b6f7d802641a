#include "store/queue.h"

#include "store/evidence.h"

namespace cairn::store {

Result<MessageId> enqueue(Db& db, const NewMessage& m) {
  TRY(
      db.run("INSERT INTO pending_messages(event_seq, session_db_id, content_session_id, message_type, "
             "tool_name, tool_input, "
             "tool_response, extra, cwd, last_user_message, last_assistant_message, prompt_number, "
             "created_at_epoch) "
             "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
             m.event_seq, m.session.value, m.content_id.value, m.type, m.tool_name, m.tool_input,
             m.tool_response, m.extra, m.cwd, m.last_user_message, m.last_assistant_message, m.prompt_number,
             epoch_ms(m.created_at)));
  return MessageId{db.last_insert_rowid()};
}

// A message may be claimed once its turn has ended: until then the turn is still being written.
#define CLAIMABLE                                                                                 \
  "m.status = 'pending' AND m.not_before_epoch <= ? AND NOT EXISTS (SELECT 1 FROM turns t WHERE " \
  "t.session_db_id = "                                                                            \
  "m.session_db_id AND t.prompt_number = m.prompt_number AND t.ended_at_epoch IS NULL) "

Result<std::optional<Batch>> claim(Db& db, WallTime now, std::size_t max, Millis lease) {
  const auto session = TRY(db.integer("SELECT m.session_db_id FROM pending_messages m WHERE " CLAIMABLE
                                      "ORDER BY m.id LIMIT 1",
                                      epoch_ms(now)));
  if (!session) return std::optional<Batch>();
  Batch batch;
  batch.id = new_uuid(epoch_ms(now));
  batch.lease = random_hex(8);
  batch.session = SessionId{*session};
  Stmt row = TRY(db.query(
      "UPDATE pending_messages SET status = 'processing', started_processing_at_epoch = ?, batch_id = ?, "
      "lease = ?, lease_until_epoch = ? WHERE id IN (SELECT m.id FROM pending_messages m WHERE " CLAIMABLE
      "AND m.session_db_id = ? ORDER BY m.id LIMIT ?) RETURNING id",
      epoch_ms(now), batch.id, batch.lease, epoch_ms(now + lease), epoch_ms(now), *session, max));
  while (TRY(row.step())) batch.messages.push_back(MessageId{row.integer(0)});
  return std::optional<Batch>(std::move(batch));
}

static Status move_to_evidence(Db& db, const Batch& batch) {
  Stmt row = TRY(
      db.query("SELECT event_seq, tool_input, tool_response, extra, created_at_epoch FROM pending_messages "
               "WHERE batch_id = ? AND lease = ? AND status = 'processing' ORDER BY id",
               batch.id, batch.lease));
  while (TRY(row.step()))
    TRY(keep_evidence(db, row.integer(0), batch.session,
                      {row.optional_text(1), row.optional_text(2), row.optional_text(3)},
                      from_epoch_ms(row.integer(4))));
  return {};
}

Status complete(Db& db, const Batch& batch, WallTime now) {
  TRY(move_to_evidence(db, batch));
  TRY(
      db.run("UPDATE pending_messages SET status = 'processed', completed_at_epoch = ?, tool_input = NULL, "
             "tool_response = NULL, "
             "extra = NULL, lease = NULL, lease_until_epoch = NULL WHERE batch_id = ? AND lease = ? AND "
             "status = 'processing'",
             epoch_ms(now), batch.id, batch.lease));
  if (db.changes() == static_cast<std::int64_t>(batch.messages.size())) return {};
  return Error{Code::canceled, "queue: batch " + batch.id + " is no longer ours"};
}

Status give_back(Db& db, const Batch& batch, std::string_view reason, int max_retries, WallTime now) {
  TRY(db.run(
      "UPDATE pending_messages SET status = 'failed', completed_at_epoch = ?, last_error = ?, lease = NULL, "
      "lease_until_epoch = NULL WHERE batch_id = ? AND lease = ? AND status = 'processing' AND retry_count "
      ">= ?",
      epoch_ms(now), reason, batch.id, batch.lease, max_retries));
  return db.run(
      "UPDATE pending_messages SET status = 'pending', retry_count = retry_count + 1, last_error = ?, "
      "batch_id = NULL, "
      "lease = NULL, lease_until_epoch = NULL, started_processing_at_epoch = NULL WHERE batch_id = ? AND "
      "lease = ? AND "
      "status = 'processing'",
      reason, batch.id, batch.lease);
}

Result<std::int64_t> recover(Db& db) {
  TRY(
      db.run("UPDATE pending_messages SET status = 'pending', batch_id = NULL, lease = NULL, "
             "lease_until_epoch = NULL, "
             "started_processing_at_epoch = NULL WHERE status = 'processing'"));
  return db.changes();
}

Result<std::int64_t> clean(Db& db, std::int64_t keep) {
  TRY(
      db.run("DELETE FROM pending_messages WHERE status = 'processed' AND id NOT IN (SELECT id FROM "
             "pending_messages WHERE "
             "status = 'processed' ORDER BY completed_at_epoch DESC, id DESC LIMIT ?)",
             keep));
  return db.changes();
}

Result<QueueCounts> queue_counts(Db& db) {
  QueueCounts counts;
  Stmt row = TRY(db.query("SELECT status, count(*) FROM pending_messages GROUP BY status"));
  while (TRY(row.step())) {
    const std::string status = row.text(0);
    if (status == "pending") counts.pending = row.integer(1);
    if (status == "processing") counts.processing = row.integer(1);
    if (status == "processed") counts.processed = row.integer(1);
    if (status == "failed") counts.failed = row.integer(1);
  }
  return counts;
}

}  // namespace cairn::store
