#include "store/queue.h"

#include <algorithm>

#include "store/rows.h"

namespace cairn::store {

static constexpr Millis kFirstDelay = std::chrono::seconds(1);
static constexpr Millis kLongestDelay = std::chrono::minutes(5);

Result<MessageId> enqueue(Db& db, const NewMessage& m) {
  TRY(
      db.run("INSERT INTO pending_messages(event_seq, session_db_id, content_session_id, message_type, "
             "tool_name, cwd, last_user_message, last_assistant_message, prompt_number, created_at_epoch, "
             "ready) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10, NOT EXISTS (SELECT 1 FROM turns WHERE "
             "session_db_id = ?2 AND prompt_number = ?9 AND ended_at_epoch IS NULL))",
             m.event_seq, m.session.value, m.content_id.value, m.type, m.tool_name, m.cwd,
             m.last_user_message, m.last_assistant_message, m.prompt_number, epoch_ms(m.created_at)));
  const MessageId id{db.last_insert_rowid()};
  TRY(keep_evidence(db, m.event_seq, m.session, m.texts, m.created_at, Indexed::waits));
  return id;
}

Status refresh_ready(Db& db) {
  return db.run(
      "UPDATE pending_messages SET ready = NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_db_id = "
      "pending_messages.session_db_id AND t.prompt_number = pending_messages.prompt_number AND "
      "t.ended_at_epoch IS NULL)");
}

// A message may be claimed once its turn has ended: until then the turn is still being written. `ready` is
// kept by enqueue() and by triggers on the turns.
#define READY "m.status = 'pending' AND m.ready = 1 "
// The index is named: SQLite might take the one by status and read every waiting row.
#define QUEUE "pending_messages m INDEXED BY queue_ready "

// ?1 is now, ?2 is later than any delay of a retry can end: a message with a later time was returned before
// the clock was set back, and is due. A longer pause of a provider is kept by the breaker (agent/breaker.h).
#define DUE "(m.not_before_epoch <= ?1 OR m.not_before_epoch > ?2) "

// Whether the messages of a session (h) whose oldest is m have waited long enough for more of them. ?3 is
// Gather::wait in ms, ?4 is Gather::max. In the order of the conditions: there is no wait; the message was
// tried before; the oldest waited five times ?3; the session has ended and its transcript was read, or was
// awaited for 30 s; nothing came for ?3; there are ?4 messages.
// NOT BETWEEN is also true for a time more than a minute after now: the clock was set back since. The time of
// the newest is taken from the last 50 rows, or a long turn would cost more with every event.
#define GATHERED                                                                                            \
  "(?3 = 0 OR m.solo = 1 OR m.retry_count > 0 OR m.created_at_epoch NOT BETWEEN ?1 - 5 * ?3 AND ?1 + "      \
  "60000 OR (s.status <> 'active' AND (s.transcript_due = 0 OR s.last_event_at_epoch < ?1 - 30000)) OR "    \
  "(SELECT max(created_at_epoch) FROM (SELECT l.created_at_epoch FROM pending_messages l WHERE l.status = " \
  "'pending' AND l.session_db_id = h.session ORDER BY l.id DESC LIMIT 50)) NOT BETWEEN ?1 - ?3 AND ?1 + "   \
  "60000 OR (SELECT count(*) FROM (SELECT 1 FROM pending_messages l WHERE l.status = 'pending' AND "        \
  "l.session_db_id = h.session LIMIT ?4)) >= ?4) "

static std::int64_t beyond_any_wait(WallTime now) {
  return epoch_ms(now + 2 * kLongestDelay);
}

// Finds waiting sessions by jumping from session to session in the index, instead of reading every row. A
// session has waited since its oldest message arrived or since its last claim, whichever is later. Both are
// numbers of one sequence: a claim gets a number above all message ids and earlier claims.
static Result<std::optional<std::int64_t>> next_session(Db& db, WallTime now, const Gather& gather) {
  return db.integer(
      "WITH RECURSIVE waiting(session) AS (SELECT min(session_db_id) FROM " QUEUE "WHERE " READY
      "UNION ALL SELECT (SELECT min(session_db_id) FROM " QUEUE "WHERE " READY
      "AND session_db_id > waiting.session) FROM waiting WHERE waiting.session IS NOT NULL), heads(session, "
      "head) AS MATERIALIZED (SELECT w.session, (SELECT m.id FROM " QUEUE
      "WHERE m.session_db_id = "
      "w.session AND " READY
      "ORDER BY m.id LIMIT 1) FROM waiting w WHERE w.session IS NOT NULL) SELECT h.session FROM heads h JOIN "
      "pending_messages m ON m.id = h.head JOIN sdk_sessions s ON s.id = h.session WHERE " DUE
      "AND NOT EXISTS (SELECT 1 FROM pending_messages b WHERE b.status = 'processing' AND b.session_db_id = "
      "h.session) AND " GATHERED "ORDER BY max(h.head, s.served), h.head LIMIT 1",
      epoch_ms(now), beyond_any_wait(now), gather.wait.count(), gather.max);
}

// The messages of a batch, in their order, up to the first that may not be in it. A text counts with at
// most 2000 bytes, about what a request shows of it. The first message is taken however large it is, or it
// would block the session for ever.
static Result<std::vector<MessageId>> next_messages(Db& db, std::int64_t session, WallTime now,
                                                    const Gather& gather) {
  Stmt row = TRY(db.query("SELECT m.id, m.solo, " DUE ", (SELECT sum(min(p.bytes, 2000)) FROM evidence v "
                          "JOIN payloads p ON p.id IN (v.input_payload, v.response_payload) WHERE "
                          "v.event_seq = m.event_seq) FROM " QUEUE "WHERE m.session_db_id = ?3 AND " READY
                          "ORDER BY m.id LIMIT ?4",
                          epoch_ms(now), beyond_any_wait(now), session, gather.max));
  std::vector<MessageId> messages;
  std::size_t bytes = 0;
  while (TRY(row.step())) {
    const bool solo = row.integer(1) != 0, due = row.integer(2) != 0;
    if (!due || (solo && !messages.empty())) break;
    bytes += static_cast<std::size_t>(row.integer(3));
    if (gather.max_bytes > 0 && bytes > gather.max_bytes && !messages.empty()) break;
    messages.push_back(MessageId{row.integer(0)});
    if (solo) break;
  }
  return messages;
}

Result<std::optional<Batch>> claim(Db& db, WallTime now, std::size_t max, Millis lease) {
  return claim(db, now, {.max = max, .lease = lease});
}

Result<std::optional<Batch>> claim(Db& db, WallTime now, const Gather& gather) {
  const Millis lease = gather.lease;
  const auto session = TRY(next_session(db, now, gather));
  if (!session) return std::optional<Batch>();
  Batch batch;
  batch.id = new_uuid(epoch_ms(now));
  batch.lease = random_hex(8);
  batch.session = SessionId{*session};
  batch.messages = TRY(next_messages(db, *session, now, gather));
  for (const MessageId id : batch.messages) {
    TRY(
        db.run("UPDATE pending_messages SET status = 'processing', started_processing_at_epoch = ?, batch_id "
               "= ?, batch_size = ?, lease = ?, lease_until_epoch = ? WHERE id = ? AND status = 'pending'",
               epoch_ms(now), batch.id, batch.messages.size(), batch.lease, epoch_ms(now + lease), id.value));
    CAIRN_ASSERT(db.changes() == 1);
  }
  // The session goes to the end of the line, behind all messages and claims so far: see next_session().
  TRY(
      db.run("UPDATE sdk_sessions SET served = 1 + max((SELECT coalesce(max(id), 0) FROM pending_messages), "
             "(SELECT max(served) FROM sdk_sessions)) WHERE id = ?",
             *session));
  return std::optional<Batch>(std::move(batch));
}

// The rows of a batch while its lease is held. A worker that lost its lease matches none, and changes
// nothing.
#define OURS "WHERE batch_id = ? AND lease = ? AND status = 'processing' "

Result<std::vector<BatchTurn>> batch_turns(Db& db, const Batch& batch) {
  return all(db.query("SELECT prompt_number, min(event_seq) FROM pending_messages " OURS
                      " AND prompt_number > 0 GROUP BY 1",
                      batch.id, batch.lease),
             [](Stmt& row) {
               return BatchTurn{row.integer(0), row.integer(1)};
             });
}

Result<bool> extend_lease(Db& db, const Batch& batch, WallTime now, Millis lease) {
  TRY(db.run("UPDATE pending_messages SET lease_until_epoch = ? " OURS, epoch_ms(now + lease), batch.id,
             batch.lease));
  return db.changes() == static_cast<std::int64_t>(batch.messages.size());
}

Status complete(Db& db, const Batch& batch, WallTime now) {
  // Before the status changes: OURS finds only rows that are processing.
  TRY(db.run(
      "UPDATE evidence SET indexed = ? WHERE event_seq IN (SELECT event_seq FROM pending_messages " OURS
      ") AND indexed = ?",
      static_cast<int>(Indexed::not_yet), batch.id, batch.lease, static_cast<int>(Indexed::waits)));
  TRY(
      db.run("UPDATE pending_messages SET status = 'processed', completed_at_epoch = ?, lease = NULL, "
             "lease_until_epoch = NULL, last_error = NULL " OURS,
             epoch_ms(now), batch.id, batch.lease));
  if (db.changes() == static_cast<std::int64_t>(batch.messages.size())) return {};
  return Error{Code::canceled, "queue: batch " + batch.id + " is no longer ours"};
}

// The jitter's random number (splitmix64): equal seeds give equal pauses, which tests rely on.
static std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
  return seed ^ (seed >> 31);
}

Millis retry_delay(std::int64_t retry, std::uint64_t seed) {
  // 16 doublings are far beyond the longest pause; more would overflow the shift.
  const auto doublings = std::clamp<std::int64_t>(retry, 0, 16);
  const std::int64_t whole = std::min(kFirstDelay.count() << doublings, kLongestDelay.count());
  const auto part = static_cast<std::int64_t>(mixed(seed ^ static_cast<std::uint64_t>(retry)) % 1001);
  return Millis(whole * 3 / 4 + whole / 2 * part / 1000);
}

// A row that is returned loses every trace of its batch.
#define WAITS                                                                                       \
  "UPDATE pending_messages SET status = 'pending', batch_id = NULL, batch_size = 0, lease = NULL, " \
  "lease_until_epoch = NULL, started_processing_at_epoch = NULL "

#define FAILS                                                                                               \
  "UPDATE pending_messages SET status = 'failed', lease = NULL, lease_until_epoch = NULL, last_error = ?, " \
  "completed_at_epoch = ? "

// The last try is made alone (solo): if another message of the batch causes the error, this one still
// succeeds.
Result<std::int64_t> return_with_retry(Db& db, const Batch& batch, std::string_view reason,
                                       const RetryPolicy& policy, WallTime now) {
  TRY(db.run(FAILS OURS "AND retry_count >= ?", reason, epoch_ms(now), batch.id, batch.lease,
             policy.max_retries));
  std::int64_t changed = db.changes();
  std::vector<std::pair<std::int64_t, std::int64_t>> waiting;
  {
    Stmt row = TRY(db.query("SELECT id, retry_count FROM pending_messages " OURS, batch.id, batch.lease));
    while (TRY(row.step())) waiting.emplace_back(row.integer(0), row.integer(1));
  }
  for (const auto& [id, retries] : waiting) {
    const bool last = retries + 1 >= policy.max_retries;
    TRY(db.run(WAITS ", retry_count = retry_count + 1, solo = max(solo, ?), last_error = ?, not_before_epoch "
                     "= ? WHERE id = ? AND status = 'processing'",
               last, reason, epoch_ms(now + retry_delay(retries, policy.seed)), id));
    changed += db.changes();
  }
  return changed;
}

Result<std::int64_t> return_without_retry(Db& db, const Batch& batch, std::string_view reason,
                                          WallTime not_before) {
  TRY(db.run(WAITS ", last_error = ?, not_before_epoch = ? " OURS, reason, epoch_ms(not_before), batch.id,
             batch.lease));
  return db.changes();
}

Status note_waiting(Db& db, const Batch& batch, std::string_view reason, WallTime until) {
  return db.run("UPDATE pending_messages SET last_error = ?, not_before_epoch = ? " OURS, reason,
                epoch_ms(until), batch.id, batch.lease);
}

// A worker may have died of any message of its batch. So a message that was claimed with others is not
// blamed: it is claimed alone next, and only a death then counts as its try.
static Result<Recovered> recover(Db& db, Stmt stuck, std::string_view reason, int max_retries, WallTime now) {
  std::vector<std::int64_t> ids;
  while (TRY(stuck.step())) ids.push_back(stuck.integer(0));
  Recovered recovered;
  for (const std::int64_t id : ids) {
    TRY(db.run(FAILS "WHERE id = ? AND status = 'processing' AND batch_size = 1 AND retry_count >= ?", reason,
               epoch_ms(now), id, max_retries));
    recovered.failed += db.changes();
    TRY(db.run(WAITS ", solo = 1, retry_count = retry_count + (batch_size = 1), last_error = ? WHERE id = ? "
                     "AND status = 'processing'",
               reason, id));
    recovered.waiting += db.changes();
  }
  return recovered;
}

#define PROCESSING "SELECT id FROM pending_messages WHERE status = 'processing' "

Result<Recovered> recover_all(Db& db, int max_retries, WallTime now) {
  return recover(db, TRY(db.query(PROCESSING)), "its worker died", max_retries, now);
}

Result<Recovered> recover_lapsed(Db& db, int max_retries, WallTime now) {
  constexpr Millis kSetBack = std::chrono::minutes(1);  // more than a usual adjustment of the clock
  return recover(db,
                 TRY(db.query(PROCESSING "AND (lease_until_epoch <= ? OR started_processing_at_epoch > ?)",
                              epoch_ms(now), epoch_ms(now + kSetBack))),
                 "its lease expired", max_retries, now);
}

Result<Recovered> recover_stuck(Db& db, Millis age, int max_retries, WallTime now) {
  return recover(db,
                 TRY(db.query(PROCESSING "AND (? OR started_processing_at_epoch < ?)", age.count() == 0,
                              epoch_ms(now - age))),
                 "it was stuck", max_retries, now);
}

}  // namespace cairn::store
