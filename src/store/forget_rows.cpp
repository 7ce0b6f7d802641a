#include "store/forget_rows.h"

#include <algorithm>

#include "store/archive.h"
#include "store/evidence.h"
#include "store/rows.h"
#include "store/sessions.h"

namespace cairn::store {

Result<std::vector<RecordName>> equal_records(Db& db, const RecordName& record) {
  if (record.letter != 'O') return std::vector<RecordName>{record};
  return all(
      db.query("SELECT o.id FROM observations o JOIN observations w ON w.id = ? WHERE o.id = w.id OR "
               "(o.content_hash = w.content_hash AND o.project IN (SELECT member FROM project_names WHERE "
               "project = w.project))",
               record.row),
      [](Stmt& row) {
        return RecordName{'O', row.integer(0)};
      });
}

static std::string_view events_sql(char letter) {
  switch (letter) {
    case 'O':
      return "SELECT e.seq, coalesce(e.tool_use_id, '') FROM observation_evidence v JOIN events e ON e.seq = "
             "v.event_seq WHERE v.observation_id = ?";
    case 'P':
      return "SELECT e.seq, '' FROM user_prompts r JOIN events e ON e.session_db_id = r.session_db_id AND "
             "e.prompt_number = r.prompt_number AND e.kind = 'prompt' WHERE r.id = ?";
    case 'W':
      return "SELECT e.seq, coalesce(e.tool_use_id, '') FROM open_items r JOIN events e ON e.seq = "
             "r.event_seq WHERE r.id = ?";
    case 'S':
      return "SELECT e.seq, coalesce(e.tool_use_id, '') FROM session_summaries r JOIN sdk_sessions s ON "
             "s.memory_session_id = r.memory_session_id JOIN events e ON e.session_db_id = s.id AND "
             "e.prompt_number = r.prompt_number AND e.outcome = 'stored' AND e.kind NOT IN "
             "('session_start', 'session_end') WHERE r.id = ?";
    default: return "";
  }
}

// An event is kept when an observation that stays (is not in `going`) was made from it.
Result<std::vector<GoneEvent>> events_to_forget(Db& db, const RecordName& record,
                                                const std::vector<RecordName>& going) {
  const std::string_view sql = events_sql(record.letter);
  if (sql.empty()) return std::vector<GoneEvent>();
  auto events = TRY(all(db.query(sql, record.row), [](Stmt& row) {
    return GoneEvent{row.integer(0), row.text(1)};
  }));
  std::vector<GoneEvent> gone;
  for (GoneEvent& event : events) {
    Stmt row =
        TRY(db.query("SELECT observation_id FROM observation_evidence WHERE event_seq = ?", event.seq));
    bool shared = false;
    while (!shared && TRY(row.step()))
      shared = std::find(going.begin(), going.end(), RecordName{'O', row.integer(0)}) == going.end();
    if (!shared) gone.push_back(std::move(event));
  }
  return gone;
}

Status delete_record(Db& db, const RecordName& record) {
  TRY(db.run("DELETE FROM forget_requests WHERE record = ?", record.text()));
  TRY(remove_standing(db, record));
  switch (record.letter) {
    case 'O': return db.run("DELETE FROM observations WHERE id = ?", record.row);
    case 'S':
      TRY(
          db.run("DELETE FROM uncommitted_edits WHERE (session_db_id, prompt_number) = (SELECT s.id, "
                 "r.prompt_number FROM session_summaries r JOIN sdk_sessions s ON s.memory_session_id = "
                 "r.memory_session_id WHERE r.id = ?)",
                 record.row));
      return db.run("DELETE FROM session_summaries WHERE id = ?", record.row);
    case 'T':
      // The turn has a copy of its last answer.
      TRY(
          db.run("UPDATE turns SET last_assistant_message = NULL WHERE (session_db_id, prompt_number) = "
                 "(SELECT session_db_id, prompt_number FROM texts WHERE id = ?1) AND last_assistant_message "
                 "= (SELECT text FROM texts WHERE id = ?1)",
                 record.row));
      return db.run("DELETE FROM texts WHERE id = ?", record.row);
    case 'W': return db.run("DELETE FROM open_items WHERE id = ?", record.row);
    case 'D': return db.run("DELETE FROM session_documents WHERE id = ?", record.row);
    case 'A': return db.run("DELETE FROM passages WHERE id = ?", record.row);
    case 'P': break;
    default: return {};
  }
  TRY(
      db.run("UPDATE sdk_sessions SET user_prompt = NULL WHERE user_prompt = (SELECT prompt_text FROM "
             "user_prompts WHERE id = ?1) AND id = (SELECT session_db_id FROM user_prompts WHERE id = ?1)",
             record.row));
  TRY(
      db.run("DELETE FROM standing_orders WHERE (session_db_id, prompt_number) = (SELECT session_db_id, "
             "prompt_number FROM user_prompts WHERE id = ?)",
             record.row));
  return db.run(
      "UPDATE user_prompts SET prompt_text = '', deleted_at = coalesce(deleted_at, created_at) "
      "WHERE id = ?",
      record.row);
}

Result<std::vector<std::string>> delete_event(Db& db, std::int64_t seq) {
  std::vector<std::string> gone;
  const auto learned = TRY(all<std::int64_t>(
      db.query("SELECT DISTINCT observation_id FROM observation_evidence WHERE event_seq = ?", seq)));
  TRY(db.run("DELETE FROM observation_evidence WHERE event_seq = ?", seq));
  for (const std::int64_t id : learned) {
    const auto uuid = TRY(db.text(
        "SELECT uuid FROM observations WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM observation_evidence "
        "WHERE observation_id = ?1)",
        id));
    if (!uuid) continue;
    gone.push_back(*uuid);
    TRY(db.run("DELETE FROM observations WHERE id = ?", id));
  }
  TRY(db.run("DELETE FROM pending_messages WHERE event_seq = ?", seq));
  TRY(delete_evidence(db, seq));
  TRY(
      db.run("UPDATE events SET outcome = 'skipped', reason = 'forgotten', tool_name = NULL, cwd = NULL, "
             "payload_hash = NULL WHERE seq = ? AND outcome = 'stored'",
             seq));
  return gone;
}

static Status delete_rest(Db& db, const Session& session) {
  const std::string& platform = session.platform;
  const std::string& content = session.content_id.value;
  TRY(remove_session_backups(db, {platform, content, ""}));
  for (const char* table : {"session_documents", "backup_requests", "backup_discards", "imports"})
    TRY(db.run("DELETE FROM " + std::string(table) + " WHERE platform = ? AND content_session_id = ?",
               platform, content));
  TRY(db.run("DELETE FROM backup_sources WHERE path = ?", session.transcript_path));
  return db.run("DELETE FROM sdk_sessions WHERE id = ?", session.id.value);
}

// Each call deletes at most `limit` rows of one table, so that a long session blocks the writer only briefly.
// Evidence goes first, because payloads are not deleted with their session. The session's own row goes last:
// after a crash the forget finds it and continues.
Result<bool> delete_session_piece(Db& db, SessionId id, std::int64_t limit) {
  const auto session = TRY(find_session(db, id));
  if (!session) return false;
  const auto events = TRY(all<std::int64_t>(
      db.query("SELECT event_seq FROM evidence WHERE session_db_id = ? LIMIT ?", id.value, limit)));
  for (const std::int64_t seq : events) TRY(delete_evidence(db, seq));
  if (!events.empty()) return true;
  for (const char* table : {"texts", "pending_messages", "user_prompts", "events"}) {
    const std::string name = table;
    const std::string key = name == "events" ? "seq" : "id";
    TRY(db.run("DELETE FROM " + name + " WHERE " + key + " IN (SELECT " + key + " FROM " + name +
                   " WHERE session_db_id = ? LIMIT ?)",
               id.value, limit));
    if (db.changes() > 0) return true;
  }
  TRY(
      db.run("DELETE FROM observations WHERE id IN (SELECT o.id FROM observations o JOIN sdk_sessions s ON "
             "s.memory_session_id = o.memory_session_id WHERE s.id = ? LIMIT ?)",
             id.value, limit));
  if (db.changes() > 0) return true;
  TRY(delete_rest(db, *session));
  return false;
}

Result<std::vector<SessionId>> sessions_in(Db& db, const SessionScope& scope) {
  return all(db.query("SELECT id FROM sdk_sessions WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR "
                      "last_event_at_epoch < ?2) AND (?3 OR hidden = 0) ORDER BY id",
                      scope.project, scope.before ? std::optional(epoch_ms(*scope.before)) : std::nullopt,
                      scope.by_hand),
             [](Stmt& row) { return SessionId{row.integer(0)}; });
}

Result<std::vector<RecordName>> hand_records_in(Db& db, const SessionScope& scope) {
  const auto before = scope.before ? std::optional(epoch_ms(*scope.before)) : std::nullopt;
  Stmt row = TRY(db.query(
      "SELECT 'O' || o.id FROM observations o JOIN sdk_sessions s ON s.memory_session_id = "
      "o.memory_session_id WHERE s.hidden = 1 AND (?1 IS NULL OR o.project = ?1) AND (?2 IS NULL OR "
      "o.created_at_epoch < ?2) UNION ALL SELECT 'W' || id FROM open_items WHERE session_db_id IS NULL AND "
      "(?1 "
      "IS NULL OR project = ?1) AND (?2 IS NULL OR last_seen_at_epoch < ?2) UNION ALL SELECT 'D' || id FROM "
      "session_documents WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR created_at_epoch < ?2)",
      scope.project, before));
  std::vector<RecordName> records;
  while (TRY(row.step()))
    if (const auto name = read_record_name(row.text(0))) records.push_back(*name);
  return records;
}

// The path may be longer or shorter than the stored one: "src/a.cpp" matches "/home/dev/src/a.cpp" and
// "a.cpp".
Result<std::vector<RecordName>> records_about_file(Db& db, const std::optional<std::string>& project,
                                                   const std::string& path) {
  return all(db.query("SELECT DISTINCT o.id FROM observation_files f JOIN observations o ON o.id = "
                      "f.observation_id WHERE (f.path = ?1 OR substr(f.path, -length(?1) - 1) = '/' || ?1 OR "
                      "substr(?1, -length(f.path) - 1) = '/' || f.path) AND (?2 IS NULL OR o.project IN "
                      "(SELECT member FROM project_scope WHERE project = ?2))",
                      path, project),
             [](Stmt& row) {
               return RecordName{'O', row.integer(0)};
             });
}

Result<bool> delete_empty_project(Db& db, const std::string& project) {
  for (const char* table : {"sdk_sessions", "observations", "open_items", "notes"})
    if (TRY(db.integer("SELECT 1 FROM " + std::string(table) + " WHERE project = ? LIMIT 1", project)))
      return false;
  for (const char* table : {"session_documents", "undo_log", "backups", "last_commits", "uncommitted_edits",
                            "standing_orders", "texts", "forget_requests"})
    TRY(db.run("DELETE FROM " + std::string(table) + " WHERE project = ?", project));
  // Another table may still name it: then it stays.
  return db.run("DELETE FROM projects WHERE name = ?", project).ok();
}

Status drop_orphans(Db& db) {
  for (const char* table : {"record_standing", "forget_requests"})
    TRY(db.run(
        "DELETE FROM " + std::string(table) +
        " WHERE (record LIKE 'O%' AND substr(record, 2) NOT IN (SELECT id FROM observations)) OR "
        "(record LIKE 'S%' AND substr(record, 2) NOT IN (SELECT id FROM session_summaries)) OR (record "
        "LIKE 'P%' AND substr(record, 2) NOT IN (SELECT id FROM user_prompts)) OR (record LIKE 'T%' "
        "AND substr(record, 2) NOT IN (SELECT id FROM texts)) OR (record LIKE 'W%' AND "
        "substr(record, 2) NOT IN (SELECT id FROM open_items)) OR (record LIKE 'D%' AND "
        "substr(record, 2) NOT IN (SELECT id FROM session_documents))"));
  // An alias stays without its record, so that the next import does not bring the record back.
  TRY(
      db.run("UPDATE import_aliases SET row_id = NULL, hash = '' WHERE kind IN ('observation', 'note') AND "
             "row_id NOT IN (SELECT id FROM observations)"));
  return {};
}

Status for_each_uuid(Db& db,
                     const std::function<void(const RecordName& record, std::string_view uuid)>& visit) {
  Stmt row = TRY(db.query(
      "SELECT 'O', id, uuid FROM observations UNION ALL SELECT 'S', id, uuid FROM session_summaries UNION "
      "ALL SELECT 'P', id, uuid FROM user_prompts UNION ALL SELECT 'W', id, uuid FROM open_items UNION "
      "ALL SELECT 'D', id, uuid FROM session_documents"));
  while (TRY(row.step())) visit({row.text(0).front(), row.integer(1)}, row.text(2));
  return {};
}

Status for_each_session(
    Db& db,
    const std::function<void(SessionId session, std::string_view platform, std::string_view id)>& visit) {
  Stmt row = TRY(db.query("SELECT id, platform, content_session_id FROM sdk_sessions"));
  while (TRY(row.step())) visit(SessionId{row.integer(0)}, row.text(1), row.text(2));
  return {};
}

}  // namespace cairn::store
