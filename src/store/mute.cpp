#include "store/mute.h"

#include <vector>

namespace cairn::store {

// Start and end of a session belong to it, not to the turn that they happened in.
#define ITS_EVENTS                                                                                      \
  "(SELECT seq FROM events WHERE session_db_id = ?1 AND prompt_number = ?2 AND outcome = 'stored' AND " \
  "kind NOT IN ('session_start', 'session_end'))"

static Result<std::vector<std::int64_t>> ids_of(Result<Stmt> query) {
  Stmt row = TRY(std::move(query));
  std::vector<std::int64_t> ids;
  while (TRY(row.step())) ids.push_back(row.integer(0));
  return ids;
}

// Texts that another event says too stay with that one.
static Status forget_texts(Db& db, SessionId session, std::int64_t number) {
  const auto payloads =
      TRY(ids_of(db.query(
          "SELECT input_payload FROM evidence WHERE input_payload IS NOT NULL AND event_seq IN " ITS_EVENTS
          " UNION SELECT response_payload FROM evidence WHERE response_payload IS NOT NULL AND event_seq "
          "IN " ITS_EVENTS " UNION SELECT extra_payload FROM evidence WHERE extra_payload IS NOT NULL AND "
          "event_seq IN " ITS_EVENTS,
          session.value, number)));
  TRY(db.run("DELETE FROM pending_messages WHERE event_seq IN " ITS_EVENTS, session.value, number));
  TRY(db.run("DELETE FROM evidence WHERE event_seq IN " ITS_EVENTS, session.value, number));
  for (const std::int64_t id : payloads)
    TRY(db.run(
        "DELETE FROM payloads WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM evidence WHERE input_payload = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM evidence WHERE response_payload = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM evidence WHERE extra_payload = ?1)",
        id));
  return {};
}

static Status forget_learned(Db& db, SessionId session, std::int64_t number) {
  const auto learned = TRY(ids_of(
      db.query("SELECT DISTINCT observation_id FROM observation_evidence WHERE event_seq IN " ITS_EVENTS,
               session.value, number)));
  TRY(db.run("DELETE FROM observation_evidence WHERE event_seq IN " ITS_EVENTS, session.value, number));
  for (const std::int64_t id : learned)
    TRY(db.run(
        "DELETE FROM observations WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM observation_evidence WHERE "
        "observation_id = ?1)",
        id));
  return db.run(
      "DELETE FROM session_summaries WHERE memory_session_id = (SELECT memory_session_id FROM sdk_sessions "
      "WHERE id = "
      "?1) AND prompt_number = ?2",
      session.value, number);
}

Status mute_turn(Db& db, SessionId session, std::int64_t number) {
  TRY(db.run(
      "UPDATE turns SET muted = 1, last_assistant_message = NULL, failure = NULL WHERE session_db_id = ? AND "
      "prompt_number = ?",
      session.value, number));
  TRY(forget_learned(db, session, number));
  TRY(forget_texts(db, session, number));
  return db.run(
      "UPDATE events SET outcome = 'private', reason = 'its prompt is private', prompt_id = NULL, tool_name "
      "= NULL, "
      "tool_use_id = NULL, agent_id = NULL, agent_type = NULL, cwd = NULL, payload_hash = NULL WHERE seq "
      "IN " ITS_EVENTS,
      session.value, number);
}

}  // namespace cairn::store
