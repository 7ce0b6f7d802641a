#include "store/imports.h"

#include "store/rows.h"

namespace cairn::store {

Result<Known> known_as(Db& db, const TranscriptToImport& import) {
  if (const auto text = TRY(db.text("SELECT state FROM imports WHERE path = ?", import.path))) {
    const auto state = named<ImportState>(*text);
    return state == ImportState::pending || state == ImportState::reading ? Known::pending
                                                                          : Known::remembered;
  }
  const auto session =
      TRY(db.integer("SELECT 1 FROM sdk_sessions WHERE platform = ? AND content_session_id = ?",
                     import.platform, import.session));
  return session ? Known::remembered : Known::no;
}

Status add_import(Db& db, const TranscriptToImport& i, WallTime now) {
  return db.run(
      "INSERT INTO imports(path, platform, content_session_id, state, bytes, modified_at_epoch, "
      "found_at_epoch) VALUES(?,?,?,'pending',?,?,?) ON CONFLICT DO NOTHING",
      i.path, i.platform, i.session, i.bytes, epoch_ms(i.modified_at), epoch_ms(now));
}

static TranscriptToImport read_import(Stmt& row) {
  return {row.text(0), row.text(1), row.text(2), row.integer(3), from_epoch_ms(row.integer(4))};
}

// A transcript is copied to the archive first: it is passed over while its request for a copy waits.
Result<std::optional<TranscriptToImport>> import_in(Db& db, ImportState state) {
  return first(db.query("SELECT path, platform, content_session_id, bytes, modified_at_epoch FROM imports "
                        "WHERE state = ? AND (state <> 'pending' OR path NOT IN (SELECT source_path FROM "
                        "backup_requests)) ORDER BY modified_at_epoch DESC LIMIT 1",
                        name_of(state)),
               read_import);
}

Status set_import(Db& db, const std::string& path, ImportState state, const std::string& reason) {
  return db.run("UPDATE imports SET state = ?, reason = nullif(?, '') WHERE path = ?", name_of(state), reason,
                path);
}

Result<std::vector<ImportCount>> count_imports(Db& db) {
  return all(db.query("SELECT state, coalesce(reason, ''), count(*), sum(bytes) FROM imports "
                      "GROUP BY state, reason ORDER BY state, count(*) DESC"),
             [](const Stmt& row) {
               ImportCount count;
               read_columns(row, count.state, count.reason, count.sessions, count.bytes);
               return count;
             });
}

}  // namespace cairn::store
