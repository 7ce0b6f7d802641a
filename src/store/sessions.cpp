#include "store/sessions.h"

#include "hook/envelope.h"
#include "store/projects.h"
#include "store/rows.h"
#include "store/turns.h"

namespace cairn::store {

// `user_prompt` repeats the session's first prompt. It is not shown when a prompt with that text was deleted.
#define SESSIONS                                                                                             \
  "SELECT id, platform, content_session_id, memory_session_id, memory_provider, project, branch, worktree, " \
  "cwd, transcript_path, iif(EXISTS (SELECT 1 FROM user_prompts p WHERE p.session_db_id = sdk_sessions.id "  \
  "AND p.deleted_at IS NOT NULL AND p.prompt_text = user_prompt), NULL, user_prompt), prompt_count, "        \
  "host_pid, host_start, host_boot_id, started_at_epoch, "                                                   \
  "last_event_at_epoch, completed_at_epoch, captured_at_epoch, status, end_reason, imported FROM "           \
  "sdk_sessions "

static Session read_session(Stmt& row) {
  Session s;
  std::optional<MemoryId> memory;
  std::string provider;
  read_columns(row, s.id, s.platform, s.content_id, memory, provider, s.project, s.branch, s.worktree, s.cwd,
               s.transcript_path, s.user_prompt, s.prompt_count, s.host.pid, s.host.start, s.host_boot_id,
               s.started_at, s.last_event_at, s.completed_at, s.captured_at, s.status, s.end_reason,
               s.imported);
  if (memory) s.identity = Captured{*memory, provider};
  return s;
}

std::string key_of(const std::string& platform, const ContentId& id) {
  return platform == hook::kDefaultHost ? id.value : platform + ":" + id.value;
}

Result<std::optional<Session>> find_session(Db& db, const std::string& platform, const ContentId& id) {
  return first(db.query(SESSIONS "WHERE platform = ? AND content_session_id = ?", platform, id.value),
               read_session);
}

Result<std::optional<Session>> find_session(Db& db, SessionId id) {
  return first(db.query(SESSIONS "WHERE id = ?", id.value), read_session);
}

Result<std::optional<std::string>> platform_of(Db& db, const std::string& content_id) {
  return db.text("SELECT platform FROM sdk_sessions WHERE content_session_id = ? LIMIT 1", content_id);
}

Result<std::vector<Session>> active_sessions(Db& db) {
  return all(db.query(SESSIONS "WHERE status = 'active' ORDER BY id"), read_session);
}

// A number or a whole id comes first and stands alone. Two rows are enough to see that a beginning is
// ambiguous.
Result<std::vector<Session>> sessions_named(Db& db, const std::string& name) {
  auto found =
      TRY(all(db.query(SESSIONS "WHERE content_session_id = ?1 OR CAST(id AS TEXT) = ?1 OR (length(?1) >= 4 "
                                "AND substr(content_session_id, 1, length(?1)) = ?1) ORDER BY "
                                "content_session_id = ?1 DESC, CAST(id AS TEXT) = ?1 DESC LIMIT 2",
                       name),
              read_session));
  if (found.size() > 1 && (found[0].content_id.value == name || std::to_string(found[0].id.value) == name))
    found.pop_back();
  return found;
}

// The order of lists over several projects: the last active first.
static bool is_later(const Session& a, const Session& b) {
  return std::pair(a.last_event_at, a.id.value) > std::pair(b.last_event_at, b.id.value);
}

Result<std::vector<Session>> list_sessions(Db& db, const std::optional<std::string>& project,
                                           std::int64_t limit) {
  constexpr std::string_view kOrder = "ORDER BY last_event_at_epoch DESC, id DESC LIMIT ?";
  if (!project)
    return all(db.query(std::string(SESSIONS "INDEXED BY sessions_by_last_event WHERE hidden = 0 AND "
                                             "deleted_at IS NULL ")
                            .append(kOrder),
                        limit),
               read_session);
  const auto of_one = [&](const std::string& name) {
    return all(
        db.query(
            std::string(SESSIONS "WHERE project = ? AND hidden = 0 AND deleted_at IS NULL ").append(kOrder),
            name, limit),
        read_session);
  };
  return first_of_scope<Session>(db, *project, static_cast<std::size_t>(limit), of_one, is_later);
}

Result<std::vector<Session>> sessions_by_hand(Db& db, const std::string& project) {
  return all(
      db.query(SESSIONS "WHERE hidden = 1 AND deleted_at IS NULL AND project = ? ORDER BY id", project),
      read_session);
}

Result<std::vector<Session>> latest_sessions(Db& db, const std::string& project, std::size_t limit) {
  const auto of_one = [&](const std::string& name) {
    return all(
        db.query(SESSIONS "WHERE project = ? AND deleted_at IS NULL AND hidden = 0 AND memory_session_id IS "
                          "NOT NULL ORDER BY last_event_at_epoch DESC, id DESC LIMIT ?",
                 name, limit),
        read_session);
  };
  return first_of_scope<Session>(db, project, limit, of_one, is_later);
}

Result<Session> create_session(Db& db, const NewSession& s) {
  TRY(
      db.run("INSERT INTO sdk_sessions(uuid, platform, content_session_id, project, branch, worktree, cwd, "
             "started_at, started_at_epoch, last_event_at_epoch) VALUES(?,?,?,?,?,?,?,?,?,?)",
             new_uuid(epoch_ms(s.started_at)), s.platform, s.content_id.value, s.project, s.branch,
             s.worktree, s.cwd, iso8601(s.started_at), epoch_ms(s.started_at), epoch_ms(s.started_at)));
  auto created = TRY(find_session(db, SessionId{db.last_insert_rowid()}));
  CAIRN_ASSERT(created.has_value());
  return *std::move(created);
}

Result<bool> is_memory_id(Db& db, const ContentId& id) {
  return TRY(db.integer("SELECT 1 FROM sdk_sessions WHERE memory_session_id = ?", id.value)).has_value();
}

// Events may come late, so the time only grows. An event that was read from a transcript has no process (pid
// 0): what a hook said stays.
Status touch_session(Db& db, SessionId id, const SessionUpdate& seen) {
  TRY(
      db.run("UPDATE sdk_sessions SET last_event_at_epoch = max(last_event_at_epoch, ?), transcript_due = 1, "
             "cwd = CASE WHEN ? = '' THEN cwd ELSE ? END, transcript_path = CASE WHEN ? = '' THEN "
             "transcript_path ELSE ? END WHERE id = ?",
             epoch_ms(seen.at), seen.cwd, seen.cwd, seen.transcript_path, seen.transcript_path, id.value));
  if (seen.host.pid == 0) return {};
  return db.run("UPDATE sdk_sessions SET host_pid = ?, host_start = ?, host_boot_id = ? WHERE id = ?",
                seen.host.pid, static_cast<std::int64_t>(seen.host.start), seen.boot_id, id.value);
}

Status set_imported(Db& db, SessionId id, bool imported) {
  return db.run("UPDATE sdk_sessions SET imported = ? WHERE id = ?", imported ? 1 : 0, id.value);
}

Status set_branch(Db& db, SessionId id, const std::optional<std::string>& branch) {
  return db.run("UPDATE sdk_sessions SET branch = ? WHERE id = ?", branch, id.value);
}

Status hide_session(Db& db, SessionId id) {
  return db.run("UPDATE sdk_sessions SET hidden = 1, transcript_due = 0 WHERE id = ?", id);
}

// Status and time change in one statement, because a constraint ties them together. update_status() then
// decides between `completed` and `failed`. A session that ends twice keeps its first time.
Status end_session(Db& db, SessionId id, std::string_view reason, WallTime at) {
  TRY(
      db.run("UPDATE sdk_sessions SET status = 'completed', end_reason = ?, completed_at = "
             "coalesce(completed_at, ?), completed_at_epoch = coalesce(completed_at_epoch, ?) WHERE id = ?",
             reason, iso8601(at), epoch_ms(at), id));
  return update_status(db, id);
}

Status update_status(Db& db, SessionId id) {
  const auto last = TRY(latest_turn(db, id));
  const auto status = last && last->unfinished() ? SessionStatus::failed : SessionStatus::completed;
  return db.run("UPDATE sdk_sessions SET status = ? WHERE id = ? AND status <> 'active'", name_of(status),
                id);
}

Status mark_failed(Db& db, SessionId id) {
  return db.run("UPDATE sdk_sessions SET status = 'failed' WHERE id = ?", id);
}

Status reopen_session(Db& db, SessionId id) {
  return db.run(
      "UPDATE sdk_sessions SET status = 'active', end_reason = NULL, completed_at = NULL, completed_at_epoch "
      "= NULL WHERE id = ? AND status <> 'active'",
      id.value);
}

}  // namespace cairn::store
