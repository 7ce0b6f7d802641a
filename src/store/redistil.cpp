#include "store/redistil.h"

#include <algorithm>

#include "store/rows.h"

namespace cairn::store {

// The conflict: backlog that is in the list stays as it is; what a person asks for starts again.
Status want_redistil(Db& db, const RedistilTurn& turn) {
  return db.run(
      "INSERT INTO redistil_turns(session_db_id, prompt_number, purpose, provider, at_epoch, done_to) "
      "VALUES(?1,?2,?3,?4,?5,?6) ON CONFLICT DO UPDATE SET purpose = ?3, provider = ?4, done_to = 0, tries = "
      "0 "
      "WHERE ?3 = 'redistil'",
      turn.session.value, turn.number, name_of(turn.purpose), turn.provider, epoch_ms(turn.at), turn.done_to);
}

// The last event before the batch, if the provider has answered all events of the turn before it; else 0:
// then all are sent. Their messages have a batch, which a call of the model names. The queue keeps only the
// newest messages that are done, so looking at the last calls is enough.
static Result<std::int64_t> answered_to(Db& db, SessionId session, const BatchTurn& turn,
                                        std::string_view provider) {
  Stmt row = TRY(
      db.query("SELECT count(*), coalesce(sum(m.batch_id IN (SELECT batch_id FROM (SELECT batch_id, outcome "
               "FROM model_calls WHERE provider = ? ORDER BY id DESC LIMIT 200) WHERE outcome IN ('ok', "
               "'skipped'))), 0) FROM events e LEFT JOIN pending_messages m ON m.event_seq = e.seq AND "
               "m.status = 'processed' WHERE e.session_db_id = ? AND e.prompt_number = ? AND e.seq < ? AND "
               "e.outcome = 'stored' AND e.kind IN ('tool', 'tool_failure', 'stop', 'stop_failure')",
               provider, session.value, turn.number, turn.first_event));
  if (!TRY(row.step())) return 0;
  const std::int64_t before = row.integer(0), answered = row.integer(1);
  return before > 0 && before == answered ? turn.first_event - 1 : 0;
}

Status want_backlog(Db& db, const Batch& batch, std::string_view provider, WallTime now) {
  for (const BatchTurn& turn : TRY(batch_turns(db, batch))) {
    RedistilTurn wanted{batch.session, turn.number, CallPurpose::backlog, std::string(provider), 0, 0, now};
    wanted.done_to = TRY(answered_to(db, batch.session, turn, provider));
    TRY(want_redistil(db, wanted));
  }
  return {};
}

// Reads several rows because those of busy sessions are skipped.
Result<std::optional<RedistilTurn>> next_redistil(Db& db, std::string_view provider, WallTime oldest,
                                                  const std::vector<SessionId>& busy, bool backlog) {
  Stmt row = TRY(
      db.query("SELECT session_db_id, prompt_number, purpose, done_to, tries, at_epoch FROM redistil_turns "
               "WHERE provider = ? AND (purpose = 'redistil' OR (? AND at_epoch >= ?)) ORDER BY purpose = "
               "'backlog', at_epoch DESC, prompt_number DESC LIMIT 50",
               provider, backlog, epoch_ms(oldest)));
  while (TRY(row.step())) {
    RedistilTurn turn;
    turn.session = SessionId{row.integer(0)};
    if (std::find(busy.begin(), busy.end(), turn.session) != busy.end()) continue;
    read_columns(row, turn.session, turn.number, turn.purpose, turn.done_to, turn.tries, turn.at);
    turn.provider = provider;
    return std::optional(std::move(turn));
  }
  return std::optional<RedistilTurn>();
}

#define THIS_TURN "WHERE session_db_id = ? AND prompt_number = ?"

Status advance_redistil(Db& db, const RedistilTurn& turn, std::int64_t to) {
  return db.run("UPDATE redistil_turns SET done_to = ?, tries = 0 " THIS_TURN, to, turn.session.value,
                turn.number);
}

Status end_redistil(Db& db, const RedistilTurn& turn) {
  return db.run("DELETE FROM redistil_turns " THIS_TURN, turn.session.value, turn.number);
}

Result<bool> fail_redistil(Db& db, const RedistilTurn& turn, std::string_view reason) {
  constexpr std::int64_t kTries = 3;
  TRY(db.run("UPDATE redistil_turns SET tries = tries + 1, last_error = ? " THIS_TURN, reason,
             turn.session.value, turn.number));
  TRY(db.run("DELETE FROM redistil_turns " THIS_TURN " AND tries >= ?", turn.session.value, turn.number,
             kTries));
  return db.changes() == 0;
}

Result<std::int64_t> drop_old_backlog(Db& db, WallTime oldest) {
  TRY(db.run("DELETE FROM redistil_turns WHERE purpose = 'backlog' AND at_epoch < ?", epoch_ms(oldest)));
  return db.changes();
}

Result<RedistilCounts> redistil_counts(Db& db) {
  Stmt row =
      TRY(db.query("SELECT coalesce(sum(purpose = 'backlog'), 0), coalesce(sum(purpose = 'redistil'), 0) "
                   "FROM redistil_turns"));
  if (!TRY(row.step())) return RedistilCounts{};
  return RedistilCounts{row.integer(0), row.integer(1)};
}

Result<std::vector<DoneTurn>> done_turns(Db& db, const std::optional<std::string>& project,
                                         const std::optional<WallTime>& since) {
  return all(
      db.query(
          "SELECT t.session_db_id, t.prompt_number, coalesce(t.ended_at_epoch, t.last_event_at_epoch), "
          "(SELECT count(*) FROM events e WHERE e.session_db_id = t.session_db_id AND e.prompt_number = "
          "t.prompt_number AND e.outcome = 'stored' AND e.kind IN ('tool', 'tool_failure', 'stop', "
          "'stop_failure')), (SELECT coalesce(sum(p.bytes), 0) FROM events e JOIN evidence v ON "
          "v.event_seq = e.seq JOIN payloads p ON p.id IN (v.input_payload, v.response_payload) WHERE "
          "e.session_db_id = t.session_db_id AND e.prompt_number = t.prompt_number), s.imported, "
          "t.expired FROM turns t JOIN sdk_sessions s ON s.id = t.session_db_id WHERE t.ended_at_epoch IS "
          "NOT NULL AND t.muted = 0 AND s.hidden = 0 AND (?1 IS NULL OR s.project = ?1) AND (?2 IS NULL "
          "OR t.ended_at_epoch >= ?2) ORDER BY 3 DESC, 2 DESC",
          project, since ? std::optional(epoch_ms(*since)) : std::nullopt),
      [](Stmt& row) {
        DoneTurn turn;
        turn.session = SessionId{row.integer(0)};
        turn.number = row.integer(1);
        turn.at = from_epoch_ms(row.integer(2));
        turn.events = row.integer(3);
        turn.bytes = row.integer(4);
        turn.imported = row.integer(5) != 0;
        turn.expired = row.integer(6) != 0;
        return turn;
      });
}

// An observation of the turn that a model made and no person decided about: the batches of the built-in
// distiller begin with "turn-".
#define DERIVED                                                                                          \
  "batch_id NOT GLOB 'turn-*' AND prompt_number = ?2 AND memory_session_id = (SELECT memory_session_id " \
  "FROM "                                                                                                \
  "sdk_sessions WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM notes n WHERE n.observation_id = "          \
  "observations.id) AND NOT EXISTS (SELECT 1 FROM record_standing d WHERE d.record = 'O' || "            \
  "observations.id AND d.text_hash <> '')"

Status drop_derived(Db& db, SessionId session, std::int64_t number) {
  TRY(db.run(
      "DELETE FROM observation_evidence WHERE observation_id IN (SELECT id FROM observations WHERE " DERIVED
      ")",
      session.value, number));
  return db.run("DELETE FROM observations WHERE " DERIVED, session.value, number);
}

Status forget_model_summary(Db& db, SessionId session, std::int64_t number) {
  return db.run(
      "UPDATE session_summaries SET provider = 'builtin', rules = '[]' WHERE prompt_number = ? AND "
      "memory_session_id = (SELECT memory_session_id FROM sdk_sessions WHERE id = ?) AND provider <> "
      "'person'",
      number, session.value);
}

}  // namespace cairn::store
