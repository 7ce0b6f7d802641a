#include "store/documents.h"

#include <charconv>

#include "base/ids.h"
#include "base/text.h"
#include "store/lists.h"
#include "store/rows.h"

namespace cairn::store {

#define DOCUMENTS                                                                                          \
  "SELECT d.id, d.uuid, d.origin, d.platform, d.content_session_id, d.project, d.branch, d.title, "        \
  "d.status, d.tags, d.body, d.previous_id, d.previous_name, d.backup_id, d.anchor_uuid, d.anchor_lines, " \
  "d.anchor_sha256, d.anchor_at_epoch, d.name, d.source, d.head_commit, d.created_at_epoch, "              \
  "d.updated_at_epoch, d.deleted_at IS NOT NULL, d.behind_uuid, d.behind_at, d.same_time FROM "            \
  "session_documents d "
#define NEWEST_FIRST " ORDER BY d.created_at_epoch DESC, d.id DESC "

static Document read_document(Stmt& row) {
  Document d;
  read_columns(row, d.id, d.uuid, d.origin, d.platform, d.session, d.project, d.branch, d.title, d.status,
               d.tags, d.body, d.previous, d.previous_name, d.backup, d.anchor.uuid, d.anchor.lines,
               d.anchor.sha256, d.anchor.at, d.name, d.source, d.head_commit, d.created_at, d.updated_at,
               d.deleted, d.anchor.behind_uuid, d.anchor.behind_at, d.anchor.same_time);
  return d;
}

static std::optional<std::int64_t> ms_of(const std::optional<WallTime>& time) {
  return time ? std::optional(epoch_ms(*time)) : std::nullopt;
}

std::string document_label(std::int64_t id) {
  return "D" + std::to_string(id);
}

Result<std::int64_t> add_document(Db& db, const Document& d) {
  TRY(db.run(
      "INSERT INTO session_documents(uuid, origin, platform, content_session_id, project, branch, title, "
      "status, tags, body, previous_id, previous_name, backup_id, anchor_uuid, anchor_lines, anchor_sha256, "
      "anchor_at_epoch, name, source, head_commit, created_at, created_at_epoch, updated_at_epoch, "
      "behind_uuid, behind_at, same_time) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      d.uuid.empty() ? new_uuid(epoch_ms(d.created_at)) : d.uuid, d.origin, d.platform, d.session, d.project,
      d.branch, d.title, d.status, list_text(d.tags), d.body, d.previous, d.previous_name, d.backup,
      d.anchor.uuid, d.anchor.lines, d.anchor.sha256, ms_of(d.anchor.at), d.name, name_of(d.source),
      d.head_commit, iso8601(d.created_at), epoch_ms(d.created_at), ms_of(d.updated_at), d.anchor.behind_uuid,
      d.anchor.behind_at, d.anchor.same_time));
  return db.last_insert_rowid();
}

// What a version of a document keeps.
#define VERSION_COLUMNS                                                                               \
  "title, status, tags, body, backup_id, anchor_uuid, anchor_lines, anchor_sha256, anchor_at_epoch, " \
  "behind_uuid, behind_at, same_time, updated_at_epoch"

// The row's present content becomes the next version before it is overwritten.
Status update_document(Db& db, const Document& d, WallTime now) {
  TRY(db.run("INSERT INTO document_versions(document_id, version, replaced_at_epoch, " VERSION_COLUMNS
             ") SELECT id, 1 + coalesce((SELECT max(version) FROM document_versions WHERE document_id = ?1), "
             "0), ?2, " VERSION_COLUMNS " FROM session_documents WHERE id = ?1",
             d.id, epoch_ms(now)));
  return db.run(
      "UPDATE session_documents SET (" VERSION_COLUMNS ") = (?,?,?,?,?,?,?,?,?,?,?,?,?) WHERE id = ?",
      d.title, d.status, list_text(d.tags), d.body, d.backup, d.anchor.uuid, d.anchor.lines, d.anchor.sha256,
      ms_of(d.anchor.at), d.anchor.behind_uuid, d.anchor.behind_at, d.anchor.same_time, epoch_ms(now), d.id);
}

Status revert_document(Db& db, std::int64_t id) {
  const auto version =
      TRY(db.integer("SELECT max(version) FROM document_versions WHERE document_id = ?", id));
  if (!version) return Error{Code::not_found, document_label(id) + " has no earlier version"};
  TRY(db.run("UPDATE session_documents SET (" VERSION_COLUMNS ") = (SELECT " VERSION_COLUMNS
             " FROM document_versions WHERE document_id = ?1 AND version = ?2) WHERE id = ?1",
             id, *version));
  return db.run("DELETE FROM document_versions WHERE document_id = ? AND version = ?", id, *version);
}

Status set_previous(Db& db, std::int64_t id, const std::optional<std::int64_t>& previous,
                    std::string_view previous_name) {
  return db.run("UPDATE session_documents SET previous_id = ?, previous_name = ? WHERE id = ?", previous,
                previous_name, id);
}

Status trash_document(Db& db, std::int64_t id, WallTime now) {
  return db.run("UPDATE session_documents SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL",
                iso8601(now), id);
}

Status restore_document(Db& db, std::int64_t id) {
  return db.run("UPDATE session_documents SET deleted_at = NULL WHERE id = ?", id);
}

// Documents that followed it keep its name as text: its own, else its number.
Status remove_document(Db& db, std::int64_t id) {
  TRY(
      db.run("UPDATE session_documents SET previous_id = NULL, previous_name = coalesce((SELECT "
             "nullif(name, '') FROM session_documents WHERE id = ?1), 'D' || ?1) WHERE previous_id = ?1",
             id));
  return db.run("DELETE FROM session_documents WHERE id = ?", id);
}

Result<std::optional<Document>> find_document(Db& db, std::int64_t id) {
  return first(db.query(DOCUMENTS "WHERE d.id = ?", id), read_document);
}

Result<std::optional<Document>> document_by_uuid(Db& db, std::string_view uuid) {
  return first(db.query(DOCUMENTS "WHERE d.uuid = ?", uuid), read_document);
}

// Rows of a project, also while they have another of its names. These tables may name a project that has no
// row.
#define ANY_NAME_OF(project) \
  "IN (SELECT " project " UNION ALL SELECT member FROM project_names WHERE project = " project ")"

Result<std::vector<Document>> documents_named(Db& db, const std::optional<std::string>& project,
                                              std::string_view name) {
  std::string_view digits = name;
  if (!digits.empty() && (digits.front() == 'D' || digits.front() == 'd')) digits.remove_prefix(1);
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (!digits.empty() && error == std::errc() && end == digits.data() + digits.size()) {
    std::vector<Document> found;
    if (auto one = TRY(find_document(db, id)); one && !one->deleted) found.push_back(*std::move(one));
    return found;
  }
  // "notes/session-2026-01-15" finds "session-2026-01-15.md".
  const std::string base(name.substr(name.find_last_of('/') + 1));
  return all(
      db.query(DOCUMENTS "WHERE d.deleted_at IS NULL AND d.name <> '' AND d.name IN (?1, ?1 || '.md') "
                         "AND (?2 IS NULL OR d.project " ANY_NAME_OF("?2") ")" NEWEST_FIRST "LIMIT 100",
               base, project),
      read_document);
}

Result<std::optional<Document>> newest_document(Db& db, const std::string& project) {
  return first(db.query(DOCUMENTS "WHERE d.project " ANY_NAME_OF(
                            "?1") " AND d.deleted_at IS NULL" NEWEST_FIRST "LIMIT 1",
                        project),
               read_document);
}

Result<std::optional<Document>> newest_document_of(Db& db, const std::string& platform,
                                                   const std::string& session) {
  return first(db.query(DOCUMENTS "WHERE d.platform = ? AND d.content_session_id = ? AND d.deleted_at IS "
                                  "NULL" NEWEST_FIRST "LIMIT 1",
                        platform, session),
               read_document);
}

Result<std::vector<Document>> list_documents(Db& db, const DocumentQuery& query) {
  return all(db.query(DOCUMENTS "WHERE (?1 IS NULL OR d.project " ANY_NAME_OF(
                          "?1") ") AND (?2 IS NULL OR EXISTS (SELECT 1 FROM "
                                "json_each(d.tags) WHERE lower(value) = lower(?2))) AND (?3 IS NULL OR "
                                "d.content_session_id = ?3) AND (d.deleted_at IS NOT NULL) = ?4" NEWEST_FIRST
                                "LIMIT ?5",
                      query.project, query.tag, query.session, query.trash, query.limit),
             read_document);
}

Result<std::optional<std::int64_t>> successor_of_document(Db& db, std::int64_t id) {
  return db.integer("SELECT max(id) FROM session_documents WHERE previous_id = ? AND deleted_at IS NULL", id);
}

static UndoEntry read_undo(Stmt& row) {
  UndoEntry u;
  read_columns(row, u.id, u.project, u.what, u.detail, u.at, u.expires_at);
  return u;
}

#define UNDOS "SELECT id, project, what, detail, at_epoch, expires_at_epoch FROM undo_log "

Result<std::int64_t> add_undo(Db& db, const UndoEntry& u) {
  TRY(db.run("INSERT INTO undo_log(project, what, detail, at_epoch, expires_at_epoch) VALUES(?,?,?,?,?)",
             u.project, u.what, u.detail, epoch_ms(u.at), epoch_ms(u.expires_at)));
  return db.last_insert_rowid();
}

Result<std::optional<UndoEntry>> last_undo(Db& db, const std::string& project, WallTime now) {
  return first(db.query(UNDOS "WHERE project " ANY_NAME_OF(
                            "?1") " AND undone_at_epoch IS NULL AND expires_at_epoch > ?2 ORDER "
                                  "BY id DESC LIMIT 1",
                        project, epoch_ms(now)),
               read_undo);
}

Status end_undo(Db& db, std::int64_t id, WallTime now) {
  return db.run("UPDATE undo_log SET undone_at_epoch = ? WHERE id = ?", epoch_ms(now), id);
}

Result<std::vector<UndoEntry>> expired_undos(Db& db, WallTime now) {
  return all(db.query(UNDOS "WHERE expires_at_epoch <= ? ORDER BY id LIMIT 100", epoch_ms(now)), read_undo);
}

Status remove_undo(Db& db, std::int64_t id) {
  return db.run("DELETE FROM undo_log WHERE id = ?", id);
}

Status set_discard(Db& db, const TranscriptKey& session, const std::optional<std::int64_t>& backup,
                   WallTime now) {
  TRY(db.run("DELETE FROM backup_discards WHERE platform = ? AND content_session_id = ?", session.platform,
             session.session));
  if (!backup) return {};
  return db.run(
      "INSERT INTO backup_discards(platform, content_session_id, backup_id, at_epoch) VALUES(?, ?, ?, ?)",
      session.platform, session.session, *backup, epoch_ms(now));
}

Result<std::optional<std::int64_t>> discarded_up_to(Db& db, const TranscriptKey& session) {
  return db.integer("SELECT backup_id FROM backup_discards WHERE platform = ? AND content_session_id = ?",
                    session.platform, session.session);
}

}  // namespace cairn::store
