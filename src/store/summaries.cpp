#include "store/summaries.h"

#include <algorithm>

#include "store/rows.h"

namespace cairn::store {

#define TURN_OF "WHERE memory_session_id = ? AND prompt_number = ? "

// What is indexed is written only when it changed: an unchanged text keeps its time, so that a resumed
// session gets only what is new, and its entries in the search index.
static Result<bool> says_the_same(Db& db, const MemoryId& memory, const Summary& s) {
  return TRY(db.integer("SELECT 1 FROM session_summaries " TURN_OF
                        "AND deleted_at IS NULL AND (project, request, investigated, learned, completed, "
                        "next_steps, notes, files_read, files_edited) IS (?,?,?,?,?,?,?,?,?)",
                        memory.value, s.prompt_number, s.project, s.request, s.investigated, s.learned,
                        s.completed, s.next_steps, s.notes, list_text(s.files_read),
                        list_text(s.files_edited)))
      .has_value();
}

// Both statements leave a model's summary alone when a built-in one comes, and a person's in any case. The
// second also runs for equal texts, when the project's name changed or the row is deleted: then updated_at
// stays too.
Result<bool> put_summary(Db& db, const MemoryId& memory, const Summary& s, WallTime now) {
  if (TRY(says_the_same(db, memory, s))) {
    // None of these columns is in the search index, so its triggers do not run.
    TRY(db.run(
        "UPDATE session_summaries SET provider = ?1, interim = ?2, rules = ?3, discovery_tokens = ?4, "
        "created_at = ?5, created_at_epoch = ?6 WHERE memory_session_id = ?7 AND prompt_number = ?8 AND "
        "(provider = 'builtin' OR ?1 <> 'builtin') AND provider <> 'person'",
        s.provider, s.interim, list_text(s.rules), s.discovery_tokens, iso8601(s.created_at),
        epoch_ms(s.created_at), memory.value, s.prompt_number));
    return db.changes() > 0;
  }
  TRY(db.run(
      "INSERT INTO session_summaries(uuid, memory_session_id, project, provider, interim, request, "
      "investigated, learned, completed, next_steps, notes, files_read, files_edited, prompt_number, "
      "created_at, created_at_epoch, updated_at_epoch, rules, discovery_tokens) "
      "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON "
      "CONFLICT(memory_session_id, prompt_number) DO UPDATE SET updated_at_epoch = CASE WHEN (request, "
      "investigated, learned, completed, next_steps, notes, files_read, files_edited) IS (excluded.request, "
      "excluded.investigated, excluded.learned, excluded.completed, excluded.next_steps, excluded.notes, "
      "excluded.files_read, excluded.files_edited) THEN updated_at_epoch ELSE excluded.updated_at_epoch END, "
      "rules = excluded.rules, discovery_tokens = excluded.discovery_tokens, created_at = "
      "excluded.created_at, "
      "created_at_epoch = excluded.created_at_epoch, provider = "
      "excluded.provider, interim = excluded.interim, request = excluded.request, investigated = "
      "excluded.investigated, learned = excluded.learned, completed = excluded.completed, next_steps = "
      "excluded.next_steps, notes = excluded.notes, files_read = excluded.files_read, files_edited = "
      "excluded.files_edited WHERE (session_summaries.provider = 'builtin' OR excluded.provider <> "
      "'builtin') AND session_summaries.provider <> 'person'",
      new_uuid(epoch_ms(now)), memory.value, s.project, s.provider, s.interim, s.request, s.investigated,
      s.learned, s.completed, s.next_steps, s.notes, list_text(s.files_read), list_text(s.files_edited),
      s.prompt_number, iso8601(s.created_at), epoch_ms(s.created_at), epoch_ms(now), list_text(s.rules),
      s.discovery_tokens));
  return db.changes() > 0;
}

#define SUMMARY_TOOLS TOOLS_OF_TURN("s.id", "u.prompt_number")
#define SUMMARIES                                                                                         \
  "SELECT u.id, s.content_session_id, s.status, u.project, s.branch, u.provider, u.interim, "             \
  "u.prompt_number, u.request, u.investigated, u.learned, u.completed, u.next_steps, u.notes, "           \
  "u.files_read, "                                                                                        \
  "u.files_edited, u.created_at_epoch, u.updated_at_epoch, t.end_reason, s.worktree, s.id, u.rules, "     \
  "u.discovery_tokens, " SUMMARY_TOOLS                                                                    \
  " FROM session_summaries u JOIN sdk_sessions s ON s.memory_session_id = u.memory_session_id LEFT JOIN " \
  "turns t ON t.session_db_id = s.id AND t.prompt_number = u.prompt_number "

static Summary read_summary(const Stmt& row) {
  Summary s;
  read_columns(row, s.id, s.session, s.session_status, s.project, s.branch, s.provider, s.interim,
               s.prompt_number, s.request, s.investigated, s.learned, s.completed, s.next_steps, s.notes,
               s.files_read, s.files_edited, s.created_at, s.updated_at, s.turn_end, s.worktree,
               s.session_row, s.rules, s.discovery_tokens, s.origins);
  return s;
}

static Result<std::vector<Summary>> summaries_of(Result<Stmt> query) {
  return all(std::move(query), read_summary);
}

Result<std::optional<Summary>> find_summary(Db& db, std::int64_t id) {
  auto found = TRY(summaries_of(db.query(SUMMARIES "WHERE u.id = ? AND u.deleted_at IS NULL", id)));
  if (found.empty()) return std::optional<Summary>();
  return std::optional<Summary>(std::move(found.front()));
}

Result<std::vector<Summary>> last_summaries(Db& db, SessionId session, std::size_t limit) {
  auto found = TRY(summaries_of(
      db.query(SUMMARIES "WHERE s.id = ? AND u.deleted_at IS NULL ORDER BY u.prompt_number DESC LIMIT ?",
               session.value, limit)));
  std::reverse(found.begin(), found.end());
  return found;
}

Result<std::optional<Summary>> summary_of_turn(Db& db, SessionId session, std::int64_t number) {
  auto found = TRY(summaries_of(db.query(
      SUMMARIES "WHERE s.id = ? AND u.prompt_number = ? AND u.deleted_at IS NULL", session.value, number)));
  if (found.empty()) return std::optional<Summary>();
  return std::optional<Summary>(std::move(found.front()));
}

Result<std::vector<Summary>> session_summaries(Db& db, SessionId session) {
  return summaries_of(
      db.query(SUMMARIES "WHERE s.id = ? AND u.deleted_at IS NULL ORDER BY u.prompt_number", session.value));
}

}  // namespace cairn::store
