#include "store/continuity.h"

#include "store/rows.h"

namespace cairn::store {

Status note_instruction_file(Db& db, SessionId session, std::string_view path) {
  return db.run("INSERT OR IGNORE INTO instruction_files(session_db_id, path) VALUES(?, ?)", session.value,
                path);
}

// Looks at the last 20 sessions only: hosts that report no such files would make it read all of them.
Result<std::vector<std::string>> instruction_files(Db& db, const std::string& project) {
  Stmt row = TRY(db.query(
      "SELECT path FROM instruction_files WHERE session_db_id = (SELECT s.id FROM (SELECT id, "
      "started_at_epoch FROM sdk_sessions WHERE project = ? ORDER BY started_at_epoch DESC LIMIT 20) s WHERE "
      "EXISTS (SELECT 1 FROM instruction_files i WHERE i.session_db_id = s.id) ORDER BY s.started_at_epoch "
      "DESC LIMIT 1) ORDER BY path",
      project));
  std::vector<std::string> paths;
  while (TRY(row.step())) paths.push_back(row.text(0));
  return paths;
}

// A turn without a prompt has nothing to summarise; a private one has no prompt.
Result<std::optional<WallTime>> oldest_unsummarised(Db& db, const std::string& project, SessionId except) {
  const auto at = TRY(db.integer(
      "SELECT min(t.started_at_epoch) FROM user_prompts p JOIN turns t ON t.session_db_id = p.session_db_id "
      "AND t.prompt_number = p.prompt_number JOIN sdk_sessions s ON s.id = p.session_db_id WHERE p.project = "
      "?1 AND p.deleted_at IS NULL AND p.session_db_id <> ?2 AND t.muted = 0 AND p.created_at_epoch > "
      "coalesce((SELECT max(updated_at_epoch) FROM session_summaries WHERE project = ?1 AND deleted_at IS "
      "NULL), 0) AND NOT EXISTS (SELECT 1 FROM session_summaries m WHERE m.memory_session_id = "
      "s.memory_session_id AND m.prompt_number = t.prompt_number)",
      project, except.value));
  return at ? std::optional(from_epoch_ms(*at)) : std::optional<WallTime>();
}

Result<std::vector<LaterWork>> worked_after(Db& db, const std::string& project, WallTime after,
                                            SessionId except, std::int64_t limit) {
  Stmt row = TRY(
      db.query("SELECT content_session_id, min(created_at_epoch) FROM user_prompts WHERE project = ? AND "
               "created_at_epoch > ? AND deleted_at IS NULL AND session_db_id <> ? GROUP BY session_db_id "
               "ORDER BY 2 LIMIT ?",
               project, epoch_ms(after), except.value, limit));
  std::vector<LaterWork> all;
  while (TRY(row.step())) all.push_back({row.text(0), from_epoch_ms(row.integer(1))});
  return all;
}

// Of each session only the newest version counts; older versions are in the list too.
Result<std::optional<Backup>> newest_pending(Db& db, const std::string& project, std::string_view except) {
  BackupQuery query;
  query.project = project;
  query.limit = 20;
  for (Backup& backup : TRY(list_backups(db, query))) {
    if (backup.key.session == except) continue;
    const auto newest = TRY(newest_backup(db, backup.key));
    if (newest && newest->id == backup.id && TRY(is_pending(db, backup)))
      return std::optional(std::move(backup));
  }
  return std::optional<Backup>();
}

Result<bool> window_reported(Db& db, SessionId session) {
  return TRY(db.integer("SELECT window_told FROM sdk_sessions WHERE id = ?", session.value)).value_or(0) != 0;
}

Status set_window_reported(Db& db, SessionId session, bool reported) {
  return db.run("UPDATE sdk_sessions SET window_told = ?1 WHERE id = ?2 AND window_told <> ?1", reported,
                session.value);
}

Status request_document(Db& db, SessionId session, DocumentCause cause, WallTime now) {
  return db.run(
      "INSERT INTO document_jobs(session_db_id, cause, not_before_epoch) VALUES(?, ?, ?) ON "
      "CONFLICT(session_db_id) DO UPDATE SET cause = excluded.cause, not_before_epoch = "
      "excluded.not_before_epoch, attempts = 0",
      session.value, name_of(cause), epoch_ms(now));
}

static DocumentJob read_document_job(Stmt& row) {
  DocumentJob job;
  read_columns(row, job.session, job.attempts);
  return job;
}

Result<std::optional<DocumentJob>> next_document_job(Db& db, WallTime now) {
  return first(db.query("SELECT session_db_id, attempts FROM document_jobs WHERE not_before_epoch <= "
                        "? ORDER BY not_before_epoch LIMIT 1",
                        epoch_ms(now)),
               read_document_job);
}

Status fail_document_job(Db& db, SessionId session, WallTime not_before) {
  return db.run(
      "UPDATE document_jobs SET attempts = attempts + 1, not_before_epoch = ? WHERE session_db_id = ?",
      epoch_ms(not_before), session.value);
}

Status end_document_job(Db& db, SessionId session) {
  return db.run("DELETE FROM document_jobs WHERE session_db_id = ?", session.value);
}

}  // namespace cairn::store
