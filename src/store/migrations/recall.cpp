#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kRecall = R"sql(
-- Documents are found too: their entry is the row's id times 8, plus 7.
CREATE VIEW indexed_documents AS SELECT id, id * 8 + 7 AS entry,
  'p' || lower(hex(project)) || ' kdocument' AS scope, title, body, '' AS files, tags AS concepts
FROM session_documents WHERE deleted_at IS NULL;
CREATE TRIGGER document_enters_index AFTER INSERT ON session_documents
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = NEW.id; END;
CREATE TRIGGER document_leaves_index BEFORE DELETE ON session_documents
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = OLD.id; END;
CREATE TRIGGER document_changes_in_index BEFORE UPDATE OF id, project, title, body, tags, deleted_at ON session_documents
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = OLD.id; END;
CREATE TRIGGER document_changed_in_index AFTER UPDATE OF id, project, title, body, tags, deleted_at ON session_documents
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = NEW.id; END;
INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_documents;

-- Ranking reads what was said before and after a record.
CREATE INDEX observations_in_session ON observations(memory_session_id, created_at_epoch);
DROP INDEX observations_by_memory;
CREATE INDEX prompts_in_session ON user_prompts(session_db_id, created_at_epoch);

-- The words of tool calls: of what a tool was given, and of the beginning and the end of what it gave. rowid is
-- events.seq. The text is in the evidence alone. The daemon adds calls in steps; `indexed` is 0 for those that wait.
CREATE VIRTUAL TABLE event_index USING fts5(
  input, output, content = '', contentless_delete = 1, tokenize = 'porter cairn');
ALTER TABLE evidence ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX evidence_to_index ON evidence(event_seq) WHERE indexed = 0;
CREATE TRIGGER evidence_leaves_index AFTER DELETE ON evidence WHEN OLD.indexed = 1
BEGIN DELETE FROM event_index WHERE rowid = OLD.event_seq; END;

-- A rebuild of the search index that is under way: up to which id of each view the new one has its records.
CREATE TABLE index_rebuild(
  name TEXT PRIMARY KEY,
  up_to INTEGER NOT NULL
) WITHOUT ROWID;
)sql";

}  // namespace cairn::store
