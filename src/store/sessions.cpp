#include "store/sessions.h"

#include "store/projects.h"

namespace cairn::store {

#define SESSION_COLUMNS                                                                                    \
  "id, platform, content_session_id, memory_session_id, memory_provider, project, branch, worktree, cwd, " \
  "transcript_path, "                                                                                      \
  "user_prompt, prompt_count, host_pid, host_start, host_boot_id, started_at_epoch, last_event_at_epoch, " \
  "completed_at_epoch, status, end_reason "

static Session read_session(Stmt& row) {
  Session s;
  s.id = SessionId{row.integer(0)};
  s.platform = row.text(1);
  s.content_id = ContentId{row.text(2)};
  if (!row.is_null(3)) s.identity = Captured{MemoryId{row.text(3)}, row.text(4)};
  s.project = row.text(5);
  s.branch = row.optional_text(6);
  s.worktree = row.optional_text(7);
  s.cwd = row.text(8);
  s.transcript_path = row.text(9);
  s.user_prompt = row.text(10);
  s.prompt_count = row.integer(11);
  s.host = {row.integer(12), static_cast<std::uint64_t>(row.integer(13))};
  s.host_boot_id = row.text(14);
  s.started_at = from_epoch_ms(row.integer(15));
  s.last_event_at = from_epoch_ms(row.integer(16));
  if (!row.is_null(17)) s.completed_at = from_epoch_ms(row.integer(17));
  s.status = row.text(18);
  s.end_reason = row.optional_text(19);
  return s;
}

std::string key_of(const std::string& platform, const ContentId& id) {
  return platform == "claude-code" ? id.value : platform + ":" + id.value;
}

Result<std::optional<Session>> find_session(Db& db, const std::string& platform, const ContentId& id) {
  return first(
      db.query("SELECT " SESSION_COLUMNS "FROM sdk_sessions WHERE platform = ? AND content_session_id = ?",
               platform, id.value),
      read_session);
}

Result<std::optional<Session>> find_session(Db& db, SessionId id) {
  return first(db.query("SELECT " SESSION_COLUMNS "FROM sdk_sessions WHERE id = ?", id.value), read_session);
}

Result<std::vector<Session>> active_sessions(Db& db) {
  Stmt row = TRY(db.query("SELECT " SESSION_COLUMNS "FROM sdk_sessions WHERE status = 'active' ORDER BY id"));
  std::vector<Session> sessions;
  while (TRY(row.step())) sessions.push_back(read_session(row));
  return sessions;
}

Result<std::vector<Session>> latest_sessions(Db& db, const std::string& project, std::size_t limit) {
  const auto of_one = [&](const std::string& name) -> Result<std::vector<Session>> {
    Stmt row = TRY(db.query("SELECT " SESSION_COLUMNS
                            "FROM sdk_sessions WHERE project = ? AND deleted_at IS NULL AND hidden = 0 AND "
                            "memory_session_id IS NOT NULL ORDER BY "
                            "last_event_at_epoch DESC, id DESC LIMIT ?",
                            name, limit));
    std::vector<Session> sessions;
    while (TRY(row.step())) sessions.push_back(read_session(row));
    return sessions;
  };
  return first_of_scope<Session>(db, project, limit, of_one, [](const Session& a, const Session& b) {
    return std::pair(a.last_event_at, a.id.value) > std::pair(b.last_event_at, b.id.value);
  });
}

Result<Session> create_session(Db& db, const NewSession& s) {
  TRY(
      db.run("INSERT INTO sdk_sessions(uuid, platform, content_session_id, project, branch, worktree, cwd, "
             "started_at, "
             "started_at_epoch, last_event_at_epoch) VALUES(?,?,?,?,?,?,?,?,?,?)",
             new_uuid(epoch_ms(s.started_at)), s.platform, s.content_id.value, s.project, s.branch,
             s.worktree, s.cwd, iso8601(s.started_at), epoch_ms(s.started_at), epoch_ms(s.started_at)));
  auto created = TRY(find_session(db, SessionId{db.last_insert_rowid()}));
  CAIRN_ASSERT(created.has_value());
  return *std::move(created);
}

Result<bool> is_memory_id(Db& db, const ContentId& id) {
  return TRY(db.integer("SELECT 1 FROM sdk_sessions WHERE memory_session_id = ?", id.value)).has_value();
}

Status touch_session(Db& db, SessionId id, const Sighting& seen) {
  TRY(
      db.run("UPDATE sdk_sessions SET last_event_at_epoch = max(last_event_at_epoch, ?), transcript_due = 1, "
             "cwd = CASE WHEN ? = '' THEN cwd ELSE ? END, "
             "transcript_path = CASE WHEN ? = '' THEN transcript_path ELSE ? END WHERE id = ?",
             epoch_ms(seen.at), seen.cwd, seen.cwd, seen.transcript_path, seen.transcript_path, id.value));
  if (seen.host.pid == 0) return {};
  return db.run("UPDATE sdk_sessions SET host_pid = ?, host_start = ?, host_boot_id = ? WHERE id = ?",
                seen.host.pid, static_cast<std::int64_t>(seen.host.start), seen.boot_id, id.value);
}

Status set_branch(Db& db, SessionId id, const std::optional<std::string>& branch) {
  return db.run("UPDATE sdk_sessions SET branch = ? WHERE id = ?", branch, id.value);
}

Status end_session(Db& db, SessionId id, std::string_view status, std::string_view reason, WallTime at) {
  return db.run(
      "UPDATE sdk_sessions SET status = ?, end_reason = ?, completed_at = coalesce(completed_at, ?), "
      "completed_at_epoch = coalesce(completed_at_epoch, ?) WHERE id = ?",
      status, reason, iso8601(at), epoch_ms(at), id.value);
}

Status reopen_session(Db& db, SessionId id) {
  return db.run(
      "UPDATE sdk_sessions SET status = 'active', end_reason = NULL, completed_at = NULL, completed_at_epoch "
      "= NULL "
      "WHERE id = ? AND status <> 'active'",
      id.value);
}

}  // namespace cairn::store
