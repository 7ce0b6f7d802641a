#include "store/turns.h"

#include "store/rows.h"

namespace cairn::store {

#define TURN_COLUMNS                                                                                \
  "t.session_db_id, t.prompt_number, t.started_at_epoch, t.last_event_at_epoch, t.ended_at_epoch, " \
  "t.end_reason, t.failure, t.last_assistant_message, t.muted "

static Turn read_turn(Stmt& row) {
  Turn t;
  read_columns(row, t.session, t.number, t.started_at, t.last_event_at, t.ended_at, t.end_reason, t.failure,
               t.last_assistant_message, t.is_private);
  return t;
}

Result<std::optional<Turn>> find_turn(Db& db, SessionId session, std::int64_t number) {
  return first(
      db.query("SELECT " TURN_COLUMNS "FROM turns t WHERE t.session_db_id = ? AND t.prompt_number = ?",
               session.value, number),
      read_turn);
}

Result<std::optional<Turn>> latest_turn(Db& db, SessionId session) {
  return first(db.query("SELECT " TURN_COLUMNS
                        "FROM turns t WHERE t.session_db_id = ? ORDER BY t.prompt_number DESC LIMIT 1",
                        session.value),
               read_turn);
}

Result<std::optional<Turn>> last_failed_turn(Db& db, WallTime since) {
  return first(db.query("SELECT " TURN_COLUMNS
                        "FROM turns t WHERE t.end_reason = 'stop_failure' AND t.ended_at_epoch > ? ORDER BY "
                        "t.ended_at_epoch DESC LIMIT 1",
                        epoch_ms(since)),
               read_turn);
}

Result<std::optional<std::int64_t>> turn_of_prompt(Db& db, SessionId session, const std::string& prompt_id) {
  return db.integer("SELECT prompt_number FROM prompt_ids WHERE session_db_id = ? AND prompt_id = ?",
                    session.value, prompt_id);
}

Result<std::optional<std::int64_t>> turn_at(Db& db, SessionId session, WallTime at) {
  return db.integer(
      "SELECT prompt_number FROM turns WHERE session_db_id = ? AND started_at_epoch <= ? ORDER BY "
      "prompt_number DESC LIMIT 1",
      session.value, epoch_ms(at));
}

Result<Turn> open_turn(Db& db, SessionId session, WallTime at) {
  const auto number = TRY(db.integer(
      "UPDATE sdk_sessions SET prompt_count = prompt_count + 1 WHERE id = ? RETURNING prompt_count",
      session.value));
  CAIRN_ASSERT(number.has_value());
  TRY(
      db.run("INSERT INTO turns(session_db_id, prompt_number, started_at_epoch, last_event_at_epoch) "
             "VALUES(?,?,?,?)",
             session.value, *number, epoch_ms(at), epoch_ms(at)));
  Turn turn;
  turn.session = session;
  turn.number = *number;
  turn.started_at = turn.last_event_at = at;
  return turn;
}

// The first turn that an id was seen in keeps it.
Status name_turn(Db& db, SessionId session, std::int64_t number, const std::string& prompt_id) {
  return db.run(
      "INSERT INTO prompt_ids(session_db_id, prompt_id, prompt_number) VALUES(?,?,?) ON CONFLICT DO NOTHING",
      session.value, prompt_id, number);
}

Status touch_turn(Db& db, SessionId session, std::int64_t number, WallTime at) {
  return db.run(
      "UPDATE turns SET last_event_at_epoch = max(last_event_at_epoch, ?) WHERE session_db_id = ? AND "
      "prompt_number = ?",
      epoch_ms(at), session.value, number);
}

Status end_turn(Db& db, SessionId session, std::int64_t number, TurnEnd reason, WallTime at) {
  TRY(db.run(
      "UPDATE turns SET ended_at_epoch = ?, end_reason = ? WHERE session_db_id = ? AND prompt_number = ?",
      epoch_ms(at), name_of(reason), session.value, number));
  return mark_turn(db, session, number);
}

Status set_turn_end_texts(Db& db, SessionId session, std::int64_t number, std::string_view last_message,
                          std::string_view failure) {
  return db.run(
      "UPDATE turns SET last_assistant_message = CASE WHEN ? = '' THEN last_assistant_message ELSE ? END, "
      "failure = CASE WHEN ? = '' THEN failure ELSE ? END WHERE session_db_id = ? AND prompt_number = ?",
      last_message, last_message, failure, failure, session.value, number);
}

Status reopen_turn(Db& db, SessionId session, std::int64_t number) {
  TRY(
      db.run("UPDATE turns SET ended_at_epoch = NULL, end_reason = NULL WHERE session_db_id = ? AND "
             "prompt_number = ?",
             session.value, number));
  return mark_turn(db, session, number);
}

// The session is marked too, so that a project's marked turns are found without looking at the turns of other
// projects. The queries below name their indexes where SQLite would take one with more rows.
Status mark_turn(Db& db, SessionId session, std::int64_t number) {
  TRY(db.run("UPDATE turns SET changed = 1 WHERE session_db_id = ? AND prompt_number = ? AND changed = 0",
             session.value, number));
  return db.run("UPDATE sdk_sessions SET changed = 1 WHERE id = ? AND changed = 0", session.value);
}

// The session keeps its mark while another of its turns has one.
Status set_summarised(Db& db, SessionId session, std::int64_t number) {
  TRY(db.run("UPDATE turns SET changed = 0 WHERE session_db_id = ? AND prompt_number = ? AND changed = 1",
             session.value, number));
  return db.run(
      "UPDATE sdk_sessions SET changed = 0 WHERE id = ?1 AND changed = 1 AND NOT EXISTS (SELECT 1 FROM turns "
      "INDEXED BY turns_changed WHERE session_db_id = ?1 AND changed = 1)",
      session.value);
}

Result<std::optional<Turn>> marked_ended_turn(Db& db) {
  return first(
      db.query("SELECT " TURN_COLUMNS "FROM turns t INDEXED BY turns_changed_late WHERE t.changed = 1 AND "
               "t.ended_at_epoch IS NOT NULL LIMIT 1"),
      read_turn);
}

Result<std::vector<Turn>> marked_turns(Db& db, SessionId session) {
  return all(db.query("SELECT " TURN_COLUMNS
                      "FROM turns t INDEXED BY turns_changed WHERE t.session_db_id = ? AND t.changed = 1 "
                      "ORDER BY t.prompt_number",
                      session.value),
             read_turn);
}

Result<std::vector<Turn>> open_turns_of(Db& db, SessionId session) {
  return all(db.query("SELECT " TURN_COLUMNS
                      "FROM turns t INDEXED BY turns_open_of_session WHERE t.session_db_id = ? AND "
                      "t.ended_at_epoch IS NULL ORDER BY t.prompt_number",
                      session.value),
             read_turn);
}

static Result<std::vector<SessionId>> session_ids(Result<Stmt> query) {
  return all(std::move(query), [](Stmt& row) { return SessionId{row.integer(0)}; });
}

Result<std::vector<SessionId>> marked_sessions(Db& db, const std::string& project, std::size_t limit) {
  return session_ids(
      db.query("SELECT id FROM sdk_sessions INDEXED BY sessions_changed WHERE changed = 1 AND project = ? "
               "ORDER BY last_event_at_epoch "
               "DESC LIMIT ?",
               project, limit));
}

Result<std::vector<SessionId>> active_sessions_of(Db& db, const std::string& project, std::size_t limit) {
  return session_ids(
      db.query("SELECT id FROM sdk_sessions INDEXED BY sessions_active_by_project WHERE status = 'active' "
               "AND project = ? ORDER BY "
               "last_event_at_epoch DESC LIMIT ?",
               project, limit));
}

Result<std::vector<Turn>> open_turns(Db& db) {
  return all(db.query("SELECT " TURN_COLUMNS
                      "FROM turns t WHERE t.ended_at_epoch IS NULL ORDER BY t.last_event_at_epoch"),
             read_turn);
}

Result<std::vector<Turn>> last_open_turns(Db& db, std::size_t limit) {
  return all(
      db.query("SELECT " TURN_COLUMNS
               "FROM turns t WHERE t.ended_at_epoch IS NULL ORDER BY t.last_event_at_epoch DESC LIMIT ?",
               limit),
      read_turn);
}

// A summary belongs to the session's memory id, so it is joined through the session. Without one it is NULL.
Result<std::vector<SessionTurn>> turns_of(Db& db, SessionId session) {
  return all(
      db.query("SELECT " TURN_COLUMNS
               ", p.id, p.prompt_text, u.id FROM turns t LEFT JOIN user_prompts p ON p.session_db_id = "
               "t.session_db_id AND p.prompt_number = t.prompt_number AND p.deleted_at IS NULL LEFT JOIN "
               "sdk_sessions s ON s.id = "
               "t.session_db_id LEFT JOIN session_summaries u ON u.memory_session_id = s.memory_session_id "
               "AND u.prompt_number = t.prompt_number AND u.deleted_at IS NULL WHERE t.session_db_id = ? "
               "ORDER BY t.prompt_number",
               session),
      [](Stmt& row) {
        SessionTurn turn{read_turn(row), {}, {}, {}};
        read_column(row, 9, turn.prompt);
        read_column(row, 10, turn.prompt_text);
        read_column(row, 11, turn.summary);
        return turn;
      });
}

Result<bool> has_prompt(Db& db, SessionId session, std::int64_t number) {
  return TRY(db.integer("SELECT 1 FROM user_prompts WHERE session_db_id = ? AND prompt_number = ?",
                        session.value, number))
      .has_value();
}

// The session's first prompt also becomes its `user_prompt`, which lists show.
Status add_prompt(Db& db, SessionId session, std::int64_t number, std::string_view text, WallTime at) {
  TRY(
      db.run("INSERT INTO user_prompts(uuid, session_db_id, content_session_id, project, prompt_number, "
             "prompt_text, created_at, created_at_epoch) SELECT ?, id, content_session_id, project, ?, ?, ?, "
             "? FROM sdk_sessions WHERE id = ?",
             new_uuid(epoch_ms(at)), number, text, iso8601(at), epoch_ms(at), session.value));
  return db.run("UPDATE sdk_sessions SET user_prompt = ? WHERE id = ? AND user_prompt IS NULL", text,
                session.value);
}

Result<std::string> prompt_text(Db& db, SessionId session, std::int64_t number) {
  auto text =
      TRY(db.text("SELECT prompt_text FROM user_prompts WHERE session_db_id = ? AND prompt_number = ? AND "
                  "deleted_at IS NULL",
                  session.value, number));
  return text.value_or("");
}

}  // namespace cairn::store
