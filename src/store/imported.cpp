#include "store/imported.h"

namespace cairn::store {

// Prompts and records come in any order: each extends the turn to its own time. A turn that is open stays
// open.
Status note_imported_turn(Db& db, SessionId session, std::int64_t number, WallTime at) {
  TRY(db.run(
      "INSERT INTO turns(session_db_id, prompt_number, started_at_epoch, last_event_at_epoch, "
      "ended_at_epoch, "
      "end_reason) VALUES(?1,?2,?3,?3,?3,'stop') ON CONFLICT DO UPDATE SET started_at_epoch = "
      "min(started_at_epoch, ?3), last_event_at_epoch = max(last_event_at_epoch, ?3), ended_at_epoch = "
      "iif(ended_at_epoch IS NULL, NULL, max(ended_at_epoch, ?3))",
      session.value, number, epoch_ms(at)));
  return db.run(
      "UPDATE sdk_sessions SET prompt_count = max(prompt_count, ?2), last_event_at_epoch = "
      "max(last_event_at_epoch, ?3) WHERE id = ?1",
      session.value, number, epoch_ms(at));
}

// An UPDATE reads the old values of all columns, so that each expression has the maximum of its own.
Status end_imported_session(Db& db, SessionId session, WallTime at, std::string_view reason) {
  return db.run(
      "UPDATE sdk_sessions SET status = 'completed', end_reason = ?3, transcript_due = 0, completed_at_epoch "
      "= "
      "max(last_event_at_epoch, ?2), last_event_at_epoch = max(last_event_at_epoch, ?2), completed_at = "
      "strftime('%Y-%m-%dT%H:%M:%fZ', max(last_event_at_epoch, ?2) / 1000.0, 'unixepoch') WHERE id = ?1",
      session.value, epoch_ms(at), reason);
}

Result<std::optional<std::int64_t>> prompt_with_text(Db& db, SessionId session, std::string_view text) {
  return db.integer("SELECT prompt_number FROM user_prompts WHERE session_db_id = ? AND prompt_text = ?",
                    session.value, text);
}

Result<std::optional<std::int64_t>> prompt_row(Db& db, SessionId session, std::int64_t number) {
  return db.integer("SELECT id FROM user_prompts WHERE session_db_id = ? AND prompt_number = ?",
                    session.value, number);
}

Status add_notes_of_batch(Db& db, const std::string& batch) {
  return db.run(
      "INSERT INTO notes(observation_id, project) SELECT id, project FROM observations WHERE batch_id = ? ON "
      "CONFLICT DO NOTHING",
      batch);
}

}  // namespace cairn::store
