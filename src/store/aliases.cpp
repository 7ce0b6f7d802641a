#include "store/aliases.h"

#include "store/rows.h"

namespace cairn::store {

Result<std::optional<Alias>> find_alias(Db& db, const std::string& source, const std::string& key) {
  return first<Alias>(db.query("SELECT source, key, kind, old_id, row_id, hash FROM import_aliases WHERE "
                               "source = ? AND key = ?",
                               source, key),
                      [](Stmt& row) {
                        Alias a;
                        read_columns(row, a.source, a.key, a.kind, a.old_id, a.row, a.hash);
                        return a;
                      });
}

Status put_alias(Db& db, const Alias& a) {
  return db.run(
      "INSERT INTO import_aliases(source, key, kind, old_id, row_id, hash) VALUES(?,?,?,?,?,?) ON "
      "CONFLICT(source, key) DO UPDATE SET row_id = excluded.row_id, hash = excluded.hash",
      a.source, a.key, a.kind, a.old_id, a.row, a.hash);
}

// Aliases of sessions, whose kind is not that of a record, are passed over.
Result<std::optional<RecordId>> record_of_alias(Db& db, const std::string& source,
                                                const std::string& old_id) {
  Stmt row =
      TRY(db.query("SELECT kind, row_id FROM import_aliases WHERE source = ? AND old_id = ? AND "
                   "row_id IS NOT NULL ORDER BY row_id",
                   source, old_id));
  while (TRY(row.step()))
    if (const auto kind = named<RecordKind>(row.text(0)))
      return std::optional<RecordId>(RecordId{*kind, row.integer(1)});
  return std::optional<RecordId>();
}

#define JOBS                                                                                       \
  "SELECT id, source, path, state, coalesce(reason, ''), position, report, started_at_epoch FROM " \
  "import_jobs "

static ImportJob read_import_job(Stmt& row) {
  ImportJob j;
  read_columns(row, j.id, j.source, j.path, j.state, j.reason, j.position, j.report, j.started_at);
  return j;
}

Result<ImportJob> add_job(Db& db, const std::string& source, const std::string& path, WallTime now) {
  TRY(db.run("INSERT INTO import_jobs(source, path, started_at_epoch) VALUES(?,?,?)", source, path,
             epoch_ms(now)));
  return ImportJob{db.last_insert_rowid(), source, path, JobState::pending, "", "", "{}", now};
}

Result<std::optional<ImportJob>> pending_job(Db& db) {
  return first(db.query(JOBS "WHERE state = 'pending' ORDER BY id LIMIT 1"), read_import_job);
}

Result<std::optional<ImportJob>> pending_job(Db& db, const std::string& source, const std::string& path) {
  return first(
      db.query(JOBS "WHERE state = 'pending' AND source = ? AND path = ? ORDER BY id LIMIT 1", source, path),
      read_import_job);
}

Status remove_job(Db& db, std::int64_t id) {
  return db.run("DELETE FROM import_jobs WHERE id = ?", id);
}

Result<bool> is_pending_job(Db& db, std::int64_t id) {
  return TRY(db.integer("SELECT 1 FROM import_jobs WHERE state = 'pending' AND id = ?", id)).has_value();
}

Result<std::vector<ImportJob>> last_jobs(Db& db) {
  return all(db.query(JOBS "WHERE id IN (SELECT max(id) FROM import_jobs GROUP BY source, path) ORDER BY id "
                           "DESC LIMIT 100"),
             read_import_job);
}

Status put_job(Db& db, const ImportJob& j, WallTime now) {
  return db.run(
      "UPDATE import_jobs SET state = ?, reason = nullif(?, ''), position = ?, report = ?, ended_at_epoch = "
      "iif(?1 = 'pending', NULL, ?) WHERE id = ?",
      name_of(j.state), j.reason, j.position, j.report, epoch_ms(now), j.id);
}

}  // namespace cairn::store
