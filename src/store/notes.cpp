#include "store/notes.h"

#include <set>

#include "base/text.h"
#include "store/rows.h"

namespace cairn::store {

Status add_note(Db& db, ObservationId observation, bool for_all) {
  return db.run(
      "INSERT INTO notes(observation_id, project, for_all) SELECT id, project, ? FROM observations WHERE id "
      "= ?",
      for_all, observation.value);
}

Status end_note(Db& db, std::int64_t observation, WallTime at) {
  TRY(db.run("UPDATE notes SET done_at_epoch = coalesce(done_at_epoch, ?) WHERE observation_id = ?",
             epoch_ms(at), observation));
  if (db.changes() == 0)
    return Error{Code::not_found, "O" + std::to_string(observation) +
                                      " is no note: only what was stored with `cairn remember` is"};
  return {};
}

Status give_note_again(Db& db, std::int64_t observation) {
  return db.run("UPDATE notes SET done_at_epoch = NULL WHERE observation_id = ?", observation);
}

Result<std::optional<NoteState>> note_state(Db& db, std::int64_t observation) {
  Stmt row = TRY(db.query("SELECT for_all, done_at_epoch FROM notes WHERE observation_id = ?", observation));
  if (!TRY(row.step())) return std::optional<NoteState>();
  NoteState state;
  read_columns(row, state.for_all, state.done_at);
  return std::optional(state);
}

Status put_note_state(Db& db, std::int64_t observation, const std::optional<NoteState>& state) {
  if (!state) return db.run("DELETE FROM notes WHERE observation_id = ?", observation);
  return db.run(
      "INSERT INTO notes(observation_id, project, for_all, done_at_epoch) SELECT id, project, ?2, ?3 FROM "
      "observations WHERE id = ?1 ON CONFLICT DO UPDATE SET for_all = excluded.for_all, done_at_epoch = "
      "excluded.done_at_epoch",
      observation, state->for_all, state->done_at ? std::optional(epoch_ms(*state->done_at)) : std::nullopt);
}

// Two lookups, each with its index: the notes of the project, and those for all projects.
Result<std::vector<Note>> notes_for(Db& db, const std::string& project, std::size_t limit) {
  return all(
      db.query("SELECT o.id, o.project, n.for_all, o.title, coalesce(nullif(o.narrative, ''), o.title), "
               "o.created_at_epoch FROM (SELECT observation_id, for_all FROM notes WHERE project IN (SELECT "
               "member FROM project_scope WHERE project = ?1) AND done_at_epoch IS NULL UNION SELECT "
               "observation_id, for_all FROM notes INDEXED BY notes_for_all WHERE for_all = 1 AND "
               "done_at_epoch IS NULL ORDER BY observation_id DESC LIMIT ?2) n JOIN observations o ON o.id = "
               "n.observation_id WHERE o.deleted_at IS NULL ORDER BY o.id DESC",
               project, limit),
      [](Stmt& row) {
        Note n;
        read_columns(row, n.observation, n.project, n.for_all, n.title, n.text, n.created_at);
        return n;
      });
}

Status put_standing_orders(Db& db, SessionId session, std::int64_t prompt_number,
                           const std::vector<std::string>& orders, WallTime at) {
  std::set<std::string> kept(orders.begin(), orders.end()), gone;
  {
    Stmt row = TRY(db.query("SELECT text FROM standing_orders WHERE session_db_id = ? AND prompt_number = ?",
                            session.value, prompt_number));
    while (TRY(row.step()))
      if (!kept.contains(row.text(0))) gone.insert(row.text(0));
  }
  for (const std::string& text : gone)
    TRY(db.run("DELETE FROM standing_orders WHERE session_db_id = ? AND prompt_number = ? AND text = ?",
               session.value, prompt_number, text));
  for (const std::string& text : orders)
    TRY(
        db.run("INSERT INTO standing_orders(project, session_db_id, prompt_number, text, said_at_epoch) "
               "SELECT project, id, ?, ?, ? FROM sdk_sessions WHERE id = ? ON CONFLICT DO NOTHING",
               prompt_number, text, epoch_ms(at), session.value));
  return {};
}

// Reads more rows than asked for, because the same order is often said again: each is given once.
Result<std::vector<StandingOrder>> standing_orders(Db& db, const std::string& project, std::size_t limit) {
  Stmt row = TRY(db.query(
      "SELECT p.id, r.text FROM standing_orders r JOIN user_prompts p ON p.session_db_id = r.session_db_id "
      "AND p.prompt_number = r.prompt_number AND p.deleted_at IS NULL WHERE r.project IN (SELECT member FROM "
      "project_scope WHERE project = ?) AND r.done_at_epoch IS NULL ORDER BY r.id DESC LIMIT 50",
      project));
  std::vector<StandingOrder> orders;
  std::set<std::string> seen;
  while (orders.size() < limit && TRY(row.step()))
    if (std::string text = row.text(1); seen.insert(ascii_lower(text)).second)
      orders.push_back({row.integer(0), std::move(text)});
  return orders;
}

Result<std::int64_t> end_standing_orders(Db& db, std::int64_t prompt, WallTime at) {
  TRY(
      db.run("UPDATE standing_orders SET done_at_epoch = coalesce(done_at_epoch, ?) WHERE (session_db_id, "
             "prompt_number) = (SELECT session_db_id, prompt_number FROM user_prompts WHERE id = ?)",
             epoch_ms(at), prompt));
  return db.changes();
}

}  // namespace cairn::store
