#include "store/project_move.h"

#include <algorithm>

#include "base/ids.h"
#include "base/text.h"
#include "store/project_links.h"
#include "store/rows.h"

// A project gets another name in two parts. start_rename() and merge_projects() only change rows of
// `projects`: the old name becomes a project that moves to the new one (moves_to), and reads show both.
// ProjectMover then changes `project` in the rows of all tables, some rows a step. When no row has the old
// name any more, its project is deleted. How far the mover is, it keeps in memory alone: after a crash it
// begins with the first table again and finds fewer rows.

namespace cairn::store {

static constexpr std::size_t kMaxName = 200;
// Limits of one step: rows read, rows changed, sessions changed. A row takes about 0.2 ms, mostly for the
// search index; a session more, because a trigger moves the counts of its calls.
static constexpr std::int64_t kLookedAt = 5000, kMoved = 100, kMovedSessions = 10;

// The tables with a column of that name, without those of the search indexes.
static Result<std::vector<std::string>> tables_with(Db& db, const std::string& column) {
  return all<std::string>(db.query(
      "SELECT t.name FROM pragma_table_list t WHERE t.schema = 'main' AND t.type = 'table' AND EXISTS "
      "(SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name = ?) AND t.name NOT LIKE '%_index%'",
      column));
}

Status check_settled(Db& db, const Project& project) {
  if (!TRY(db.integer("SELECT 1 FROM projects WHERE moves_to = ?", project.id))) return {};
  return Error{Code::busy,
               "rows are still moving to project \"" + project.name + "\": try again in a minute"};
}

Status start_rename(Db& db, const Project& project, const std::string& name) {
  TRY(check_settled(db, project));
  // The project keeps its id, which other tables refer to; the old name's row gets a new one. In between no
  // row has the id, so foreign keys are checked at the commit.
  TRY(db.run("PRAGMA defer_foreign_keys=ON"));
  const std::int64_t other = TRY(db.integer("SELECT max(id) + 1 FROM projects")).value_or(1);
  const std::string uuid = new_uuid(0);
  TRY(db.run("UPDATE projects SET id = ?, uuid = ?, key = ?, moves_to = ?4, is_due = 0 WHERE id = ?4", other,
             uuid, "moving " + uuid, project.id));
  TRY(db.run(
      "INSERT INTO projects(id, uuid, key, name, root, created_at, created_at_epoch, root_commit, remote, "
      "head_commit, is_due, scope) SELECT ?, ?, ?, ?, root, created_at, created_at_epoch, root_commit, "
      "remote, head_commit, 1, scope FROM projects WHERE id = ?",
      project.id, project.uuid, project.key, name, other));
  return db.run("UPDATE projects SET scope = NULL, root_commit = NULL, remote = NULL WHERE id = ?", other);
}

Status rename_project(Db& db, const Project& project, const std::string& name, WallTime now) {
  if (name.empty() || name.size() > kMaxName || one_line(visible(name), kMaxName) != name)
    return Error{Code::invalid, "a project's name is one line of 1 to 200 characters"};
  if (name == project.name) return {};
  if (TRY(db.integer("SELECT 1 FROM projects WHERE name = ?", name)))
    return Error{Code::busy, "there is a project \"" + name + "\" already: take another name"};
  TRY(start_rename(db, project, name));
  return db.run(
      "INSERT INTO project_history(project_id, what, made_by, old_name, at_epoch) VALUES(?, 'renamed', "
      "'user', ?, ?)",
      project.id, project.name, epoch_ms(now));
}

Status merge_projects(Db& db, const Project& from, const Project& into, WallTime now) {
  if (from.id == into.id) return Error{Code::invalid, "both are the same project"};
  // The history decides which project an old name or path means: from here on it is `into`.
  TRY(db.run("UPDATE project_history SET project_id = ? WHERE project_id = ?", into.id, from.id));
  TRY(remove_links(db, from));
  TRY(db.run("UPDATE projects SET moves_to = ? WHERE moves_to = ?", into.id, from.id));
  TRY(
      db.run("UPDATE projects SET key = ?, moves_to = ?, scope = NULL, is_due = 0, root_commit = NULL, "
             "remote = NULL WHERE id = ?",
             "moving " + from.uuid, into.id, from.id));
  return db.run(
      "INSERT INTO project_history(project_id, what, made_by, old_key, old_root, old_name, at_epoch) "
      "VALUES(?, 'moved', 'user', ?, ?, ?, ?)",
      into.id, from.key, from.root, from.name, epoch_ms(now));
}

Result<bool> is_moving(Db& db) {
  return TRY(db.integer("SELECT 1 FROM projects WHERE moves_to IS NOT NULL LIMIT 1")).has_value();
}

Result<bool> ProjectMover::step() {
  if (!TRY(is_moving(db_))) return false;
  auto moved = in_transaction(db_, [&] { return step_in_transaction(); });
  if (!moved) from_ = 0;  // the changes were rolled back: begin again with the first table
  TRY(std::move(moved));
  return true;
}

Status ProjectMover::step_in_transaction() {
  Stmt row =
      TRY(db_.query("SELECT f.id, f.name, t.name FROM projects f JOIN projects t ON t.id = f.moves_to WHERE "
                    "f.moves_to IS NOT NULL ORDER BY f.id LIMIT 1"));
  if (!TRY(row.step())) return {};
  if (row.integer(0) != from_ || row.text(2) != new_name_ || tables_.empty()) {
    from_ = row.integer(0);
    old_name_ = row.text(1);
    new_name_ = row.text(2);
    tables_ = TRY(tables_with(db_, "project"));
    std::erase(tables_, "tallies");  // triggers on the other tables keep the tallies right
    // Sessions first: what they store from then on has the new name.
    const auto sessions = std::find(tables_.begin(), tables_.end(), "sdk_sessions");
    if (sessions != tables_.end()) std::rotate(sessions, sessions + 1, tables_.end());
    done_to_ = 0;
  }
  TRY(move_piece(tables_.back()));
  if (!tables_.empty()) return {};
  // No foreign key keeps these from having the old name: such a row may be new since its table was done.
  for (const char* table : {"backups", "session_documents", "undo_log", "forget_requests"})
    TRY(db_.run("UPDATE OR IGNORE " + std::string(table) + " SET project = ? WHERE project = ?", new_name_,
                old_name_));
  const Status gone = db_.run("DELETE FROM projects WHERE id = ?", from_);
  from_ = 0;
  // The delete fails when a row was stored under the old name meanwhile: the next step begins with the first
  // table again.
  return gone || gone.error().code == Code::invalid ? Status() : gone;
}

// Moves rows of the table, and leaves it when none is left. A row that the new name has already, by a unique
// index, is removed: UPDATE OR IGNORE leaves it as it was.
Status ProjectMover::move_piece(const std::string& table) {
  const std::string change = "UPDATE OR IGNORE \"" + table + "\" SET project = ? WHERE project = ?";
  const std::string remove = "DELETE FROM \"" + table + "\" WHERE project = ?";
  const auto last = db_.integer("SELECT max(rowid) FROM \"" + table + "\"");
  if (!last) {  // a table WITHOUT ROWID: they have few rows
    TRY(db_.run(change, new_name_, old_name_));
    TRY(db_.run(remove, old_name_));
    tables_.pop_back();
    return {};
  }
  const std::int64_t limit = table == "sdk_sessions" ? kMovedSessions : kMoved;
  // The plus keeps SQLite from the index on the project: rows are read by rowid, so that a step has a bound.
  const auto rows =
      TRY(all<std::int64_t>(db_.query("SELECT rowid FROM \"" + table +
                                          "\" WHERE rowid > ?1 AND rowid <= ?1 + ?2 AND +project = ?3 ORDER "
                                          "BY rowid LIMIT ?4",
                                      done_to_, kLookedAt, old_name_, limit)));
  for (const std::int64_t id : rows) {
    TRY(db_.run(change + " AND rowid = ?", new_name_, old_name_, id));
    if (db_.changes() == 0) TRY(db_.run(remove + " AND rowid = ?", old_name_, id));
  }
  done_to_ = std::ssize(rows) == limit ? rows.back() : done_to_ + kLookedAt;
  if (done_to_ < last->value_or(0)) return {};
  tables_.pop_back();
  done_to_ = 0;
  return {};
}

Status add_alias(Db& db, const Project& project, const std::string& key, const std::string& path,
                 WallTime now) {
  if (const auto other = TRY(db.text("SELECT name FROM projects WHERE key = ? AND id <> ?", key, project.id)))
    return Error{Code::invalid, path + " is project \"" + *other + "\": merge the two instead"};
  return db.run(
      "INSERT INTO project_history(project_id, what, made_by, old_key, old_root, at_epoch) VALUES(?, "
      "'moved', "
      "'user', ?, ?, ?)",
      project.id, key, path, epoch_ms(now));
}

Result<std::int64_t> move_sessions(Db& db, const Project& from, const Project& to, const std::string& path) {
  TRY(check_settled(db, from));
  const auto sessions = TRY(all<std::int64_t>(db.query(
      "SELECT id FROM sdk_sessions WHERE project = ?1 AND (cwd = ?2 OR substr(cwd, 1, length(?2) + 1) "
      "= ?2 || '/')",
      from.name, path)));
  const auto with_project = TRY(tables_with(db, "project"));
  const auto with_session = TRY(tables_with(db, "session_db_id"));
  const auto with_memory = TRY(tables_with(db, "memory_session_id"));
  const auto has = [](const std::vector<std::string>& tables, const std::string& table) {
    return std::find(tables.begin(), tables.end(), table) != tables.end();
  };
  for (const std::int64_t session : sessions) {
    for (const std::string& table : with_project) {
      if (table == "sdk_sessions") continue;
      if (has(with_session, table))
        TRY(db.run("UPDATE \"" + table + "\" SET project = ? WHERE session_db_id = ?", to.name, session));
      else if (has(with_memory, table))
        TRY(db.run("UPDATE \"" + table +
                       "\" SET project = ?1 WHERE memory_session_id = (SELECT memory_session_id FROM "
                       "sdk_sessions WHERE id = ?2)",
                   to.name, session));
    }
    for (const char* table : {"backups", "session_documents"})
      TRY(db.run("UPDATE " + std::string(table) +
                     " SET project = ?1 WHERE (platform, content_session_id) = (SELECT platform, "
                     "content_session_id FROM sdk_sessions WHERE id = ?2)",
                 to.name, session));
    TRY(db.run("UPDATE sdk_sessions SET project = ? WHERE id = ?", to.name, session));
  }
  return static_cast<std::int64_t>(sessions.size());
}

}  // namespace cairn::store
