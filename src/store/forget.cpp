#include "store/forget.h"

#include "store/evidence.h"
#include "store/meta.h"
#include "store/passages.h"
#include "store/rows.h"

namespace cairn::store {

// Deletes the observations that have no other evidence.
static Status forget_learned(Db& db, std::int64_t event) {
  const auto learned = TRY(all<std::int64_t>(
      db.query("SELECT DISTINCT observation_id FROM observation_evidence WHERE event_seq = ?", event)));
  TRY(db.run("DELETE FROM observation_evidence WHERE event_seq = ?", event));
  for (const std::int64_t id : learned)
    TRY(
        db.run("DELETE FROM observations WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM observation_evidence "
               "WHERE observation_id = ?1)",
               id));
  return {};
}

// Turns a stored event into one that is only counted.
static Status forget_event(Db& db, std::int64_t event, EventOutcome outcome, std::string_view reason) {
  TRY(forget_learned(db, event));
  TRY(db.run("DELETE FROM pending_messages WHERE event_seq = ?", event));
  TRY(delete_evidence(db, event));
  return db.run(
      "UPDATE events SET outcome = ?, reason = ?, prompt_id = NULL, tool_name = NULL, tool_use_id = NULL, "
      "agent_id = NULL, agent_type = NULL, cwd = NULL, payload_hash = NULL WHERE seq = ?",
      name_of(outcome), reason, event);
}

Status forget_turn(Db& db, SessionId session, std::int64_t number) {
  TRY(
      db.run("UPDATE turns SET muted = 1, last_assistant_message = NULL, failure = NULL WHERE session_db_id "
             "= ? AND prompt_number = ?",
             session.value, number));
  // Start and end of a session belong to the session, not to the turn they happened in.
  const auto events = TRY(
      all<std::int64_t>(db.query("SELECT seq FROM events WHERE session_db_id = ? AND prompt_number = ? AND "
                                 "outcome = 'stored' AND kind NOT IN ('session_start', 'session_end')",
                                 session.value, number)));
  for (const std::int64_t event : events)
    TRY(forget_event(db, event, EventOutcome::private_turn, "its prompt is private"));
  for (const char* table : {"texts", "open_items", "standing_orders", "uncommitted_edits"})
    TRY(db.run("DELETE FROM " + std::string(table) + " WHERE session_db_id = ? AND prompt_number = ?",
               session.value, number));
  TRY(forget_passages(db, session, number));
  // Words of deleted entries stay in the search index until its parts are merged.
  TRY(put_meta(db, kIndexToMerge, 1));
  return db.run(
      "DELETE FROM session_summaries WHERE memory_session_id = (SELECT memory_session_id FROM sdk_sessions "
      "WHERE id = ?1) AND prompt_number = ?2",
      session.value, number);
}

Result<bool> has_private_turn(Db& db, SessionId session) {
  return TRY(db.integer("SELECT 1 FROM turns WHERE session_db_id = ? AND muted LIMIT 1", session.value))
      .has_value();
}

Status forget_start(Db& db, SessionId session, std::string_view tool_use_id, std::string_view reason) {
  const auto start =
      TRY(db.integer("SELECT seq FROM events WHERE session_db_id = ? AND tool_use_id = ? AND kind = "
                     "'tool_start' AND outcome = 'stored'",
                     session.value, tool_use_id));
  return start ? forget_event(db, *start, EventOutcome::skipped, reason) : Status();
}

}  // namespace cairn::store
