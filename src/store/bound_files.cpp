#include "store/bound_files.h"

#include "store/rows.h"

namespace cairn::store {

#define BOUND_FILES                                                                                     \
  "SELECT f.observation_id, f.path, f.modified, f.blob, coalesce(nullif(s.worktree, ''), p.root, ''), " \
  "o.created_at_epoch FROM observation_files f JOIN observations o ON o.id = f.observation_id JOIN "    \
  "sdk_sessions s ON s.memory_session_id = o.memory_session_id LEFT JOIN projects p ON p.name = o.project "

static BoundFile read_bound(Stmt& row) {
  BoundFile file;
  read_columns(row, file.observation, file.path, file.modified, file.blob, file.root, file.made_at);
  return file;
}

Result<std::vector<BoundFile>> files_to_bind(Db& db, std::size_t limit) {
  return all(db.query(BOUND_FILES "WHERE f.blob = '' ORDER BY f.observation_id DESC LIMIT ?", limit),
             read_bound);
}

Status bind_file(Db& db, const BoundFile& file) {
  return db.run(
      "UPDATE observation_files SET blob = ? WHERE observation_id = ? AND path = ? AND modified = ?",
      file.blob, file.observation, file.path, file.modified);
}

Result<std::vector<BoundFile>> bound_files(Db& db, std::int64_t observation, std::size_t limit) {
  return all(
      db.query(BOUND_FILES "WHERE f.observation_id = ? AND f.blob NOT IN ('', '-') ORDER BY f.modified "
                           "DESC, f.path LIMIT ?",
               observation, limit),
      read_bound);
}

}  // namespace cairn::store
