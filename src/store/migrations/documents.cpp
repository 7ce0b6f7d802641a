#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kDocuments = R"sql(
-- `name`: what an imported document was called. `source`: person, agent, draft or import. `previous_name`: the
-- predecessor as it was named, where the row is gone or never was here. `head_commit`: what was checked out.
ALTER TABLE session_documents ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE session_documents ADD COLUMN source TEXT NOT NULL DEFAULT 'person';
ALTER TABLE session_documents ADD COLUMN previous_name TEXT NOT NULL DEFAULT '';
ALTER TABLE session_documents ADD COLUMN head_commit TEXT NOT NULL DEFAULT '';
ALTER TABLE session_documents ADD COLUMN updated_at_epoch INTEGER;
CREATE INDEX documents_by_time ON session_documents(project, created_at_epoch, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_name ON session_documents(name) WHERE name <> '';

-- What stood in a document before it was changed.
CREATE TABLE document_versions(
  document_id INTEGER NOT NULL REFERENCES session_documents(id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  tags TEXT NOT NULL,
  body TEXT NOT NULL,
  backup_id INTEGER REFERENCES backups(id) ON DELETE SET NULL,
  anchor_uuid TEXT NOT NULL,
  anchor_lines INTEGER,
  anchor_sha256 TEXT NOT NULL,
  anchor_at_epoch INTEGER,
  updated_at_epoch INTEGER,
  replaced_at_epoch INTEGER NOT NULL,
  PRIMARY KEY(document_id, version)
) WITHOUT ROWID;
CREATE INDEX document_versions_by_backup ON document_versions(backup_id) WHERE backup_id IS NOT NULL;

-- What `cairn undo` can take back until it expires: `detail` is a JSON object of what was changed.
CREATE TABLE undo_log(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL,
  what TEXT NOT NULL,
  detail TEXT NOT NULL,
  at_epoch INTEGER NOT NULL,
  expires_at_epoch INTEGER NOT NULL,
  undone_at_epoch INTEGER
);
CREATE INDEX undo_log_by_project ON undo_log(project, id);

-- These rows name a project without a reference to it.
CREATE TRIGGER project_names_follow AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name
BEGIN
  UPDATE session_documents SET project = NEW.name WHERE project = OLD.name;
  UPDATE backups SET project = NEW.name WHERE project = OLD.name;
  UPDATE undo_log SET project = NEW.name WHERE project = OLD.name;
END;
)sql";

const std::string_view kDocumentPlaces = R"sql(
-- What finds the anchor of a document by uuid or by instant alone: how many covered lines come after the one with that
-- uuid, after the last one with a time, and how many have that very time.
ALTER TABLE session_documents ADD COLUMN behind_uuid INTEGER;
ALTER TABLE session_documents ADD COLUMN behind_at INTEGER;
ALTER TABLE session_documents ADD COLUMN same_time INTEGER;
ALTER TABLE document_versions ADD COLUMN behind_uuid INTEGER;
ALTER TABLE document_versions ADD COLUMN behind_at INTEGER;
ALTER TABLE document_versions ADD COLUMN same_time INTEGER;
)sql";

}  // namespace cairn::store
