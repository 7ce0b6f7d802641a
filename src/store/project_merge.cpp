#include "store/project_merge.h"

#include <algorithm>
#include <vector>

#include "store/rows.h"

namespace cairn::store {

// The tables with a column of that name.
static Result<std::vector<std::string>> tables_with(Db& db, const std::string& column) {
  return all<std::string>(db.query(
      "SELECT t.name FROM pragma_table_list t WHERE t.schema = 'main' AND t.type = 'table' AND EXISTS "
      "(SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name = ?) AND t.name NOT LIKE '%_index%'",
      column));
}

Result<std::int64_t> merge_projects(Db& db, const Project& from, const Project& into, WallTime now) {
  if (from.id == into.id) return Error{Code::invalid, "both are the same project"};
  std::int64_t moved = 0;
  for (const std::string& table : TRY(tables_with(db, "project"))) {
    TRY(db.run("UPDATE OR IGNORE \"" + table + "\" SET project = ? WHERE project = ?", into.name, from.name));
    moved += db.changes();
    // What is left is there already under the other name.
    TRY(db.run("DELETE FROM \"" + table + "\" WHERE project = ?", from.name));
  }
  TRY(db.run("UPDATE project_history SET project_id = ? WHERE project_id = ?", into.id, from.id));
  TRY(
      db.run("INSERT INTO project_history(project_id, what, made_by, old_key, old_root, old_name, at_epoch) "
             "VALUES(?, 'moved', 'user', ?, ?, ?, ?)",
             into.id, from.key, from.root, from.name, epoch_ms(now)));
  TRY(db.run("DELETE FROM projects WHERE id = ?", from.id));
  return moved;
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
