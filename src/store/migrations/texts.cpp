#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kTexts = R"sql(
-- What was said in a session, whole: the answers of its turns, remarks between tool calls, summaries of compactions,
-- titles, messages of commits. Each text once per session. prompt_number NULL: it belongs to no turn.
CREATE TABLE texts(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  prompt_number INTEGER,
  kind TEXT NOT NULL CHECK(kind <> ''),
  source TEXT NOT NULL CHECK(source IN ('hook', 'transcript', 'distiller')),
  text TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  deleted_at TEXT,
  UNIQUE(session_db_id, hash)
);
CREATE INDEX texts_by_turn ON texts(session_db_id, prompt_number);
CREATE INDEX texts_by_time ON texts(session_db_id, created_at_epoch);
CREATE INDEX texts_by_project ON texts(project, created_at_epoch);

-- The sessions of a project that were at work last.
CREATE INDEX sessions_by_activity ON sdk_sessions(project, last_event_at_epoch);

-- In the search index an entry of a text is its id times 8, plus 4.
CREATE VIEW indexed_texts AS SELECT id, id * 8 + 4 AS entry,
  'p' || lower(hex(project)) || ' kturn' AS scope, '' AS title, text AS body, '' AS files, '' AS concepts
FROM texts WHERE deleted_at IS NULL AND kind <> 'title';

CREATE TRIGGER text_enters_index AFTER INSERT ON texts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = NEW.id; END;
CREATE TRIGGER text_leaves_index BEFORE DELETE ON texts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = OLD.id; END;
CREATE TRIGGER text_changes_in_index BEFORE UPDATE OF id, project, kind, text, deleted_at ON texts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = OLD.id; END;
CREATE TRIGGER text_changed_in_index AFTER UPDATE OF id, project, kind, text, deleted_at ON texts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = NEW.id; END;

-- Answers that were stored before there was a place for them.
INSERT OR IGNORE INTO texts(session_db_id, project, prompt_number, kind, source, text, hash, created_at_epoch)
  SELECT t.session_db_id, s.project, t.prompt_number, 'answer', 'hook', t.last_assistant_message,
    'turn ' || t.prompt_number, t.last_event_at_epoch
  FROM turns t JOIN sdk_sessions s ON s.id = t.session_db_id
  WHERE t.last_assistant_message <> '' AND NOT t.muted;
)sql";

}  // namespace cairn::store
