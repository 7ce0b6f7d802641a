#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kArchive = R"sql(
-- A chain of versions: what was copied of one transcript while it only grew. A file that was rewritten starts
-- a new one.
CREATE TABLE backup_bases(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  agent TEXT NOT NULL DEFAULT '',
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL UNIQUE,
  is_redacted INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT '',
  UNIQUE(platform, content_session_id, agent, ordinal)
);

-- The files of a base below archive/, in order: NAME.ORDINAL.zst. `frames` lists each zstd frame of the file as
-- compressed:bytes:lines.
CREATE TABLE backup_segments(
  base_id INTEGER NOT NULL REFERENCES backup_bases(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  file_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  frames TEXT NOT NULL,
  PRIMARY KEY(base_id, ordinal)
) WITHOUT ROWID;

-- A verified version of a transcript: the first `segments` files of its base. `bytes` and `sha256` are of what is
-- stored, `source_bytes` and `source_sha256` of the host's file. `agent` is a subagent's id, empty for the
-- session itself.
CREATE TABLE backups(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  agent TEXT NOT NULL DEFAULT '',
  version INTEGER NOT NULL,
  base_id INTEGER NOT NULL REFERENCES backup_bases(id),
  segments INTEGER NOT NULL,
  project TEXT NOT NULL DEFAULT '',
  source_path TEXT NOT NULL,
  cause TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  source_bytes INTEGER NOT NULL,
  source_sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  lines INTEGER NOT NULL,
  malformed INTEGER NOT NULL DEFAULT 0,
  bad_line INTEGER,
  bad_column INTEGER,
  rewritten INTEGER NOT NULL DEFAULT 0,
  last_uuid TEXT NOT NULL DEFAULT '',
  last_record_at_epoch INTEGER,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  verified_at TEXT NOT NULL,
  verified_at_epoch INTEGER NOT NULL,
  UNIQUE(platform, content_session_id, agent, version)
);
CREATE INDEX backups_by_base ON backups(base_id, segments);
CREATE INDEX backups_by_time ON backups(created_at_epoch);
CREATE INDEX backups_by_project ON backups(project);

-- How a transcript looked when it was last read to its end: what looks the same is not read again.
CREATE TABLE backup_sources(
  path TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  read_at_epoch INTEGER NOT NULL
) WITHOUT ROWID;

-- Copies that hooks asked for and that are not made yet. `error` is why the last attempt failed.
CREATE TABLE backup_requests(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  source_path TEXT NOT NULL,
  cause TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  at_epoch INTEGER NOT NULL,
  not_before_epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT
);
CREATE INDEX backup_requests_failed ON backup_requests(id) WHERE error IS NOT NULL;

-- Up to which backup a session's lines were discarded: they are pending no more.
CREATE TABLE backup_discards(
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  backup_id INTEGER NOT NULL,
  at_epoch INTEGER NOT NULL,
  PRIMARY KEY(platform, content_session_id)
) WITHOUT ROWID;

-- Files below archive/ whose rows are gone and that are to be unlinked.
CREATE TABLE backup_removals(
  file TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Documents that a person curated. The anchor says which part of the transcript they cover.
CREATE TABLE session_documents(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  branch TEXT,
  title TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'in-progress',
  tags TEXT NOT NULL DEFAULT '[]',
  body TEXT NOT NULL DEFAULT '',
  previous_id INTEGER REFERENCES session_documents(id) ON DELETE SET NULL,
  backup_id INTEGER REFERENCES backups(id) ON DELETE SET NULL,
  anchor_uuid TEXT NOT NULL DEFAULT '',
  anchor_lines INTEGER,
  anchor_sha256 TEXT NOT NULL DEFAULT '',
  anchor_at_epoch INTEGER,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  deleted_at TEXT
);
CREATE INDEX documents_by_session ON session_documents(platform, content_session_id, id);
CREATE INDEX documents_by_project ON session_documents(project, id);
CREATE INDEX documents_by_previous ON session_documents(previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX documents_by_backup ON session_documents(backup_id) WHERE backup_id IS NOT NULL;
)sql";

}  // namespace cairn::store
