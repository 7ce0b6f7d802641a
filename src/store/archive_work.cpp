// Requests for copies, pending backups, and files to remove.
#include "store/archive.h"
#include "store/meta.h"

namespace cairn::store {

namespace {

BackupRequest read_request(Stmt& row) {
  return {row.integer(0),
          row.text(1),
          row.text(2),
          row.text(3),
          named<BackupCause>(row.text(4)).value_or(BackupCause::sweep),
          row.text(5),
          from_epoch_ms(row.integer(6)),
          from_epoch_ms(row.integer(7)),
          row.integer(8),
          row.optional_text(9)};
}

constexpr std::string_view kRequest =
    "SELECT id, platform, content_session_id, source_path, cause, reason, at_epoch, not_before_epoch, "
    "attempts, error FROM backup_requests ";

// Whether `newest` has lines that `covered`, a backup of the same session, does not have.
bool has_later_lines(const Backup& newest, const Backup& covered) {
  if (newest.base == covered.base) return newest.lines > covered.lines;
  return newest.id > covered.id;  // the file was rewritten between the two: lines cannot be compared
}

}  // namespace

Status request_backup(Db& db, const BackupRequest& request) {
  return db.run(
      "INSERT INTO backup_requests(platform, content_session_id, source_path, cause, reason, at_epoch, "
      "not_before_epoch) VALUES(?, ?, ?, ?, ?, ?, ?)",
      request.platform, request.session, request.source_path, name_of(request.cause), request.reason,
      epoch_ms(request.at), epoch_ms(request.not_before));
}

Result<std::int64_t> request_once(Db& db, const BackupRequest& request) {
  const auto known =
      TRY(db.integer("SELECT id FROM backup_requests WHERE source_path = ?", request.source_path));
  if (!known) {
    TRY(request_backup(db, request));
    return db.last_insert_rowid();
  }
  TRY(db.run("UPDATE backup_requests SET not_before_epoch = min(not_before_epoch, ?) WHERE id = ?",
             epoch_ms(request.not_before), *known));
  return *known;
}

Result<bool> is_requested(Db& db, const std::string& path) {
  return TRY(db.integer("SELECT 1 FROM backup_requests WHERE source_path = ?", path)).has_value();
}

Result<std::optional<BackupRequest>> next_request(Db& db, WallTime now) {
  return first<BackupRequest>(
      db.query(std::string(kRequest) + "WHERE not_before_epoch <= ? ORDER BY id LIMIT 1", epoch_ms(now)),
      read_request);
}

Status end_request(Db& db, std::int64_t id) {
  return db.run("DELETE FROM backup_requests WHERE id = ?", id);
}

// A request counts once as failed, however many of its attempts fail.
Status fail_request(Db& db, std::int64_t id, std::string_view error, WallTime not_before) {
  const bool is_new =
      TRY(db.integer("SELECT 1 FROM backup_requests WHERE id = ? AND error IS NULL", id)).has_value();
  if (is_new) TRY(add_to_meta(db, kBackupsFailed, 1));
  return db.run(
      "UPDATE backup_requests SET attempts = attempts + 1, error = ?, not_before_epoch = ? WHERE id = ?",
      error, epoch_ms(not_before), id);
}

Status clamp_requests(Db& db, WallTime latest) {
  return db.run("UPDATE backup_requests SET not_before_epoch = ?1 WHERE not_before_epoch > ?1",
                epoch_ms(latest));
}

Result<std::vector<BackupRequest>> failed_requests(Db& db) {
  Stmt row = TRY(db.query(std::string(kRequest) + "WHERE error IS NOT NULL ORDER BY id"));
  std::vector<BackupRequest> all;
  while (TRY(row.step())) all.push_back(read_request(row));
  return all;
}

Result<std::int64_t> failures_so_far(Db& db) {
  return TRY(meta_number(db, kBackupsFailed)).value_or(0);
}

Result<bool> is_pending(Db& db, const Backup& newest) {
  const TranscriptKey& key = newest.key;
  // A document covers its backup as a discard does; a document without a backup covers the lines of its
  // anchor.
  Stmt row = TRY(db.query(
      "SELECT backup_id, NULL FROM backup_discards WHERE platform = ?1 AND content_session_id = ?2 UNION ALL "
      "SELECT backup_id, anchor_lines FROM session_documents WHERE platform = ?1 AND content_session_id = ?2 "
      "AND deleted_at IS NULL",
      key.platform, key.session));
  while (TRY(row.step())) {
    if (const auto lines = row.optional_integer(1); lines && *lines >= newest.lines) return false;
    const auto id = row.optional_integer(0);
    if (!id) continue;
    if (*id >= newest.id) return false;
    const auto covered = TRY(find_backup(db, *id));
    if (covered && !has_later_lines(newest, *covered)) return false;
  }
  return true;
}

Status discard_backups(Db& db, const Backup& up_to, WallTime now) {
  return db.run(
      "INSERT INTO backup_discards(platform, content_session_id, backup_id, at_epoch) VALUES(?, ?, ?, ?) ON "
      "CONFLICT DO UPDATE SET backup_id = max(backup_id, excluded.backup_id), at_epoch = excluded.at_epoch",
      up_to.key.platform, up_to.key.session, up_to.id, epoch_ms(now));
}

// The newest version of the session's own transcript; of a subagent's where only those were copied.
Result<std::vector<SessionBackups>> session_backups(Db& db) {
  std::vector<SessionBackups> all;
  Stmt row = TRY(db.query(
      "SELECT b.platform, b.content_session_id, count(*), (SELECT coalesce(sum(g.file_bytes), 0) FROM "
      "backup_segments g JOIN backup_bases a ON a.id = g.base_id WHERE a.platform = b.platform AND "
      "a.content_session_id = b.content_session_id), max(CASE WHEN b.agent = '' THEN b.id END) AS newest, "
      "max(b.id) "
      "FROM backups b GROUP BY b.platform, b.content_session_id ORDER BY coalesce(newest, max(b.id)) DESC"));
  while (TRY(row.step())) {
    const auto newest = TRY(find_backup(db, row.optional_integer(4).value_or(row.integer(5))));
    if (!newest) continue;
    all.push_back({*newest, row.integer(2), row.integer(3), TRY(is_pending(db, *newest))});
  }
  return all;
}

// What the anchor lacks is taken from the document's backup, and the time from the document.
Result<std::optional<DocumentAnchor>> document_anchor(Db& db, std::int64_t id) {
  return first<DocumentAnchor>(
      db.query(
          "SELECT d.platform, d.content_session_id, coalesce(nullif(d.anchor_uuid, ''), b.last_uuid, ''), "
          "coalesce(d.anchor_lines, b.lines), coalesce(nullif(d.anchor_sha256, ''), b.sha256, ''), "
          "coalesce(d.anchor_at_epoch, d.created_at_epoch), d.behind_uuid, d.behind_at, d.same_time FROM "
          "session_documents d LEFT JOIN backups b ON b.id = d.backup_id WHERE d.id = ? AND d.deleted_at IS "
          "NULL",
          id),
      [](Stmt& row) {
        return DocumentAnchor{
            {row.text(0), row.text(1), ""},
            {row.text(2), row.optional_integer(3), row.text(4), from_epoch_ms(row.integer(5)),
             row.optional_integer(6), row.optional_integer(7), row.optional_integer(8)}};
      });
}

// The files are unlinked later, from backup_removals: if they were unlinked first, a rollback would leave
// rows without files.
Status remove_session_backups(Db& db, const TranscriptKey& session) {
  TRY(
      db.run("INSERT OR IGNORE INTO backup_removals(file) SELECT a.name || '.' || g.ordinal || '.zst' FROM "
             "backup_segments g JOIN backup_bases a ON a.id = g.base_id WHERE a.platform = ? AND "
             "a.content_session_id = ?",
             session.platform, session.session));
  TRY(db.run("DELETE FROM backups WHERE platform = ? AND content_session_id = ?", session.platform,
             session.session));
  return db.run("DELETE FROM backup_bases WHERE platform = ? AND content_session_id = ?", session.platform,
                session.session);
}

Status remove_versions_from(Db& db, std::int64_t base, std::int64_t segment) {
  TRY(
      db.run("INSERT OR IGNORE INTO backup_removals(file) SELECT a.name || '.' || g.ordinal || '.zst' FROM "
             "backup_segments g JOIN backup_bases a ON a.id = g.base_id WHERE a.id = ? AND g.ordinal >= ?",
             base, segment));
  TRY(db.run("DELETE FROM backups WHERE base_id = ? AND segments >= ?", base, segment));
  TRY(db.run("DELETE FROM backup_segments WHERE base_id = ? AND ordinal >= ?", base, segment));
  const std::int64_t lines =
      TRY(db.integer("SELECT sum(lines) FROM backup_segments WHERE base_id = ?", base)).value_or(0);
  TRY(db.run("DELETE FROM passages WHERE base_id = ? AND last_line > ?", base, lines));
  TRY(db.run("UPDATE passage_progress SET lines = min(lines, ?2) WHERE base_id = ?1", base, lines));
  return db.run(
      "DELETE FROM backup_bases WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM backups WHERE base_id = ?1)",
      base);
}

Status replace_segments(Db& db, const BackupBase& base, const std::string& name,
                        const std::vector<RewrittenSegment>& segments) {
  TRY(
      db.run("INSERT OR IGNORE INTO backup_removals(file) SELECT ?2 || '.' || ordinal || '.zst' FROM "
             "backup_segments WHERE base_id = ?1",
             base.id, base.name));
  TRY(db.run("UPDATE backup_bases SET name = ? WHERE id = ?", name, base.id));
  for (const RewrittenSegment& one : segments) {
    const BackupSegment& s = one.segment;
    TRY(db.run(
        "UPDATE backup_segments SET file_bytes = ?, sha256 = ?, bytes = ?, lines = ?, frames = ? WHERE "
        "base_id = ? AND ordinal = ?",
        s.file_bytes, s.sha256, s.bytes, s.lines, s.frames, base.id, s.ordinal));
    // The new name may be one that was to be removed.
    TRY(db.run("DELETE FROM backup_removals WHERE file = ?", segment_file(name, s.ordinal)));
    // Before the hashes of the backups change: documents are found by the old one.
    for (const char* table : {"session_documents", "document_versions"})
      TRY(db.run("UPDATE " + std::string(table) +
                     " SET anchor_sha256 = ?1 WHERE anchor_sha256 <> '' AND anchor_sha256 IN (SELECT sha256 "
                     "FROM backups WHERE base_id = ?2 AND segments = ?3)",
                 one.sha256, base.id, s.ordinal));
    TRY(db.run("UPDATE backups SET sha256 = ?, bytes = ? WHERE base_id = ? AND segments = ?", one.sha256,
               one.bytes, base.id, s.ordinal));
  }
  return {};
}

Result<std::optional<BackupBase>> next_base(Db& db, std::int64_t after) {
  const auto id = TRY(db.integer("SELECT min(id) FROM backup_bases WHERE id > ?", after));
  return id ? find_base(db, *id) : std::optional<BackupBase>();
}

Result<std::vector<std::string>> removals(Db& db) {
  Stmt row = TRY(db.query("SELECT file FROM backup_removals ORDER BY file"));
  std::vector<std::string> files;
  while (TRY(row.step())) files.push_back(row.text(0));
  return files;
}

Status end_removal(Db& db, const std::string& file) {
  return db.run("DELETE FROM backup_removals WHERE file = ?", file);
}

Result<std::vector<ArchiveFile>> archive_files(Db& db) {
  Stmt row = TRY(db.query(
      "SELECT a.name, g.ordinal, a.id, g.file_bytes FROM backup_segments g JOIN backup_bases a ON a.id = "
      "g.base_id ORDER BY a.id, g.ordinal"));
  std::vector<ArchiveFile> files;
  while (TRY(row.step()))
    files.push_back(
        {segment_file(row.text(0), row.integer(1)), row.integer(2), row.integer(1), row.integer(3)});
  return files;
}

Result<ArchiveCounts> archive_counts(Db& db) {
  Stmt row = TRY(db.query(
      "SELECT (SELECT count(*) FROM backups WHERE agent = ''), (SELECT count(DISTINCT "
      "content_session_id) FROM backups), (SELECT coalesce(sum(file_bytes), 0) FROM backup_segments)"));
  TRY(row.step());
  return ArchiveCounts{row.integer(0), row.integer(1), row.integer(2)};
}

}  // namespace cairn::store
