#include "store/archive.h"

#include <fmt/format.h>

#include <limits>

namespace cairn::store {

namespace {

constexpr std::string_view kSelectBackup =
    "SELECT id, platform, content_session_id, agent, version, base_id, segments, project, source_path, "
    "cause, "
    "reason, source_bytes, source_sha256, bytes, sha256, lines, malformed, bad_line, bad_column, rewritten, "
    "last_uuid, last_record_at_epoch, created_at_epoch, verified_at_epoch FROM backups ";

std::optional<WallTime> optional_time(const Stmt& row, int column) {
  const auto at = row.optional_integer(column);
  return at ? std::optional(from_epoch_ms(*at)) : std::nullopt;
}

Backup read_backup(Stmt& row) {
  Backup b;
  b.id = row.integer(0);
  b.key = {row.text(1), row.text(2), row.text(3)};
  b.version = row.integer(4);
  b.base = row.integer(5);
  b.segments = row.integer(6);
  b.project = row.text(7);
  b.source_path = row.text(8);
  b.cause = named<BackupCause>(row.text(9)).value_or(b.cause);
  b.reason = row.text(10);
  b.source_bytes = row.integer(11);
  b.source_sha256 = row.text(12);
  b.bytes = row.integer(13);
  b.sha256 = row.text(14);
  b.lines = row.integer(15);
  b.malformed = row.integer(16);
  b.bad_line = row.optional_integer(17);
  b.bad_column = row.optional_integer(18);
  b.rewritten = row.integer(19);
  b.last_uuid = row.text(20);
  b.last_record_at = optional_time(row, 21);
  b.created_at = from_epoch_ms(row.integer(22));
  b.verified_at = from_epoch_ms(row.integer(23));
  return b;
}

Result<std::vector<Backup>> read_backups(Result<Stmt> query) {
  Stmt row = TRY(std::move(query));
  std::vector<Backup> all;
  while (TRY(row.step())) all.push_back(read_backup(row));
  return all;
}

Result<std::optional<Backup>> one_backup(Result<Stmt> query) {
  return first<Backup>(std::move(query), read_backup);
}

BackupBase read_base(Stmt& row) {
  return {row.integer(0),      {row.text(1), row.text(2), row.text(3)},
          row.integer(4),      row.text(5),
          row.integer(6) != 0, row.text(7)};
}

constexpr std::string_view kSelectBase =
    "SELECT id, platform, content_session_id, agent, ordinal, name, is_redacted, state FROM backup_bases ";

std::string sql(std::string_view columns, std::string_view rest) {
  return std::string(columns).append(rest);
}

}  // namespace

std::string segment_file(const std::string& base_name, std::int64_t ordinal) {
  return fmt::format("{}.{}.zst", base_name, ordinal);
}

Result<std::optional<Backup>> find_backup(Db& db, std::int64_t id) {
  return one_backup(db.query(sql(kSelectBackup, "WHERE id = ?"), id));
}

Result<std::optional<Backup>> find_version(Db& db, const TranscriptKey& key, std::int64_t version) {
  return one_backup(db.query(
      sql(kSelectBackup, "WHERE platform = ? AND content_session_id = ? AND agent = ? AND version = ?"),
      key.platform, key.session, key.agent, version));
}

Result<std::optional<Backup>> newest_backup(Db& db, const TranscriptKey& key) {
  return one_backup(db.query(sql(kSelectBackup,
                                 "WHERE platform = ? AND content_session_id = ? AND agent = ? ORDER BY "
                                 "version DESC LIMIT 1"),
                             key.platform, key.session, key.agent));
}

Result<std::vector<Backup>> agents_before(Db& db, const Backup& main, std::int64_t before) {
  return read_backups(db.query(
      sql(kSelectBackup,
          "WHERE id IN (SELECT max(id) FROM backups WHERE platform = ? AND content_session_id = ? AND agent "
          "<> '' AND id < ? GROUP BY agent) ORDER BY agent"),
      main.key.platform, main.key.session, before));
}

Result<std::vector<TranscriptKey>> sessions_like(Db& db, std::string_view start) {
  // A range instead of LIKE: % and _ have no special meaning, and the index is used.
  const std::string from(start), until = from + "\xf4\x8f\xbf\xbf";
  Stmt row = TRY(
      db.query("SELECT DISTINCT platform, content_session_id FROM backups WHERE content_session_id >= ? AND "
               "content_session_id < ? ORDER BY content_session_id = ? DESC, content_session_id LIMIT 2",
               from, until, from));
  std::vector<TranscriptKey> found;
  while (TRY(row.step())) found.push_back({row.text(0), row.text(1), ""});
  return found;
}

Result<std::vector<Backup>> list_backups(Db& db, const BackupQuery& query) {
  const TranscriptKey session = query.session.value_or(TranscriptKey{});
  return read_backups(db.query(
      sql(kSelectBackup,
          "WHERE (?1 IS NULL OR project IN (SELECT member FROM project_scope WHERE project = ?1)) AND (?2 = "
          "'' "
          "OR (content_session_id = ?2 AND platform = ?3)) AND (?4 OR agent = '') ORDER BY id DESC LIMIT ?5"),
      query.project, session.session, session.platform, query.agents, query.limit));
}

Result<std::vector<std::int64_t>> backup_ids(Db& db) {
  Stmt row = TRY(db.query("SELECT id FROM backups ORDER BY id"));
  std::vector<std::int64_t> ids;
  while (TRY(row.step())) ids.push_back(row.integer(0));
  return ids;
}

Result<std::optional<BackupBase>> find_base(Db& db, std::int64_t id) {
  return first<BackupBase>(db.query(sql(kSelectBase, "WHERE id = ?"), id), read_base);
}

Result<std::optional<BackupBase>> newest_base(Db& db, const TranscriptKey& key) {
  return first<BackupBase>(
      db.query(
          sql(kSelectBase,
              "WHERE platform = ? AND content_session_id = ? AND agent = ? ORDER BY ordinal DESC LIMIT 1"),
          key.platform, key.session, key.agent),
      read_base);
}

Result<std::vector<BackupSegment>> segments_of(Db& db, std::int64_t base, std::int64_t count) {
  Stmt row =
      TRY(db.query("SELECT ordinal, file_bytes, sha256, bytes, lines, frames FROM backup_segments WHERE "
                   "base_id = ? AND ordinal <= ? ORDER BY ordinal",
                   base, count));
  std::vector<BackupSegment> segments;
  while (TRY(row.step()))
    segments.push_back(
        {row.integer(0), row.integer(1), row.text(2), row.integer(3), row.integer(4), row.text(5)});
  return segments;
}

// The version counts over all bases of the transcript. The project is the session's, if that is known here.
Result<Backup> add_backup(Db& db, BackupBase base, const std::optional<BackupSegment>& segment,
                          Backup backup) {
  const TranscriptKey& key = base.key;
  if (base.id == 0) {
    TRY(db.run(
        "INSERT INTO backup_bases(platform, content_session_id, agent, ordinal, name, is_redacted, state) "
        "VALUES(?, ?, ?, ?, ?, ?, ?)",
        key.platform, key.session, key.agent, base.ordinal, base.name, base.is_redacted, base.state));
    base.id = db.last_insert_rowid();
  } else {
    TRY(db.run("UPDATE backup_bases SET state = ? WHERE id = ?", base.state, base.id));
  }
  if (segment) {
    TRY(db.run(
        "INSERT INTO backup_segments(base_id, ordinal, file_bytes, sha256, bytes, lines, frames) VALUES(?, "
        "?, ?, ?, ?, ?, ?)",
        base.id, segment->ordinal, segment->file_bytes, segment->sha256, segment->bytes, segment->lines,
        segment->frames));
    // A removed session that came back has a file of that name again.
    TRY(db.run("DELETE FROM backup_removals WHERE file = ?", segment_file(base.name, segment->ordinal)));
  }
  backup.key = key;
  backup.base = base.id;
  backup.version =
      TRY(db.integer(
              "SELECT max(version) FROM backups WHERE platform = ? AND content_session_id = ? AND agent = ?",
              key.platform, key.session, key.agent))
          .value_or(0) +
      1;
  const auto last = backup.last_record_at ? std::optional(epoch_ms(*backup.last_record_at)) : std::nullopt;
  TRY(db.run(
      "INSERT INTO backups(uuid, platform, content_session_id, agent, version, base_id, segments, project, "
      "source_path, cause, reason, source_bytes, source_sha256, bytes, sha256, lines, malformed, bad_line, "
      "bad_column, rewritten, last_uuid, last_record_at_epoch, created_at, created_at_epoch, verified_at, "
      "verified_at_epoch) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce((SELECT project FROM sdk_sessions "
      "WHERE "
      "platform = ?2 AND content_session_id = ?3), ?8), ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
      "?19, "
      "?20, ?21, ?22, ?23, ?24, ?25, ?26)",
      new_uuid(epoch_ms(backup.created_at)), key.platform, key.session, key.agent, backup.version, base.id,
      backup.segments, backup.project, backup.source_path, name_of(backup.cause), backup.reason,
      backup.source_bytes, backup.source_sha256, backup.bytes, backup.sha256, backup.lines, backup.malformed,
      backup.bad_line, backup.bad_column, backup.rewritten, backup.last_uuid, last,
      iso8601(backup.created_at), epoch_ms(backup.created_at), iso8601(backup.verified_at),
      epoch_ms(backup.verified_at)));
  backup.id = db.last_insert_rowid();
  return backup;
}

Status name_project_of_backups(Db& db, const std::string& platform, const std::string& session) {
  return db.run(
      "UPDATE backups SET project = coalesce((SELECT s.project FROM sdk_sessions s WHERE s.platform = ?1 AND "
      "s.content_session_id = ?2), '') WHERE platform = ?1 AND content_session_id = ?2 AND project = ''",
      platform, session);
}

Status set_verified(Db& db, std::int64_t id, WallTime now) {
  return db.run("UPDATE backups SET verified_at = ?, verified_at_epoch = ? WHERE id = ?", iso8601(now),
                epoch_ms(now), id);
}

Result<bool> source_is_known(Db& db, const std::string& path, const os::Stat& stat) {
  return TRY(db.integer("SELECT 1 FROM backup_sources WHERE path = ? AND inode = ? AND size = ? AND "
                        "modified_ns = ?",
                        path, static_cast<std::int64_t>(stat.inode), static_cast<std::int64_t>(stat.size),
                        stat.modified_ns))
      .has_value();
}

Result<std::optional<WallTime>> source_read_at(Db& db, const std::string& path) {
  const auto at = TRY(db.integer("SELECT read_at_epoch FROM backup_sources WHERE path = ?", path));
  return at ? std::optional(from_epoch_ms(*at)) : std::nullopt;
}

Status note_source(Db& db, const std::string& path, const os::Stat& stat, WallTime now) {
  return db.run(
      "INSERT INTO backup_sources(path, inode, size, modified_ns, read_at_epoch) VALUES(?, ?, ?, ?, ?) ON "
      "CONFLICT DO UPDATE SET inode = excluded.inode, size = excluded.size, modified_ns = "
      "excluded.modified_ns, read_at_epoch = excluded.read_at_epoch",
      path, static_cast<std::int64_t>(stat.inode), static_cast<std::int64_t>(stat.size), stat.modified_ns,
      epoch_ms(now));
}

// A pause that has not ended lasts for ever.
Result<std::vector<std::pair<std::int64_t, std::int64_t>>> capture_pauses(Db& db) {
  Stmt row = TRY(db.query("SELECT from_epoch, until_epoch FROM capture_pauses"));
  std::vector<std::pair<std::int64_t, std::int64_t>> pauses;
  while (TRY(row.step()))
    pauses.emplace_back(row.integer(0),
                        row.optional_integer(1).value_or(std::numeric_limits<std::int64_t>::max()));
  return pauses;
}

Result<std::vector<std::string>> private_prompts(Db& db, std::string_view platform,
                                                 std::string_view session) {
  Stmt row = TRY(db.query(
      "SELECT p.prompt_id FROM prompt_ids p JOIN turns t ON t.session_db_id = p.session_db_id AND "
      "t.prompt_number = p.prompt_number JOIN sdk_sessions s ON s.id = p.session_db_id WHERE t.muted = "
      "1 AND s.platform = ? AND s.content_session_id = ?",
      platform, session));
  std::vector<std::string> ids;
  while (TRY(row.step())) ids.push_back(row.text(0));
  return ids;
}

}  // namespace cairn::store
