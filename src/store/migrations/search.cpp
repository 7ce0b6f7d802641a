#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kSearchIndex = R"sql(
-- One index over observations, summaries and prompts, without a copy of their texts. The views below say what is
-- indexed of each, the triggers keep it in step whoever writes, also when rows go with their session. entry is the
-- row's id times 8, plus 1 for an observation, 2 for a summary, 3 for a prompt. scope holds one word for the project
-- (hexadecimal: no tokenizer changes it, and it is equal only for equal names), one for the kind, one for the type.
CREATE VIRTUAL TABLE memory_index USING fts5(
  scope, title, body, files, concepts, content = '', tokenize = 'porter cairn');
INSERT INTO memory_index(memory_index, rank) VALUES('secure-delete', 1);
-- A title says what a text is about; a file or a concept that is asked for by name says much as well.
INSERT INTO memory_index(memory_index, rank) VALUES('rank', 'bm25(0.0, 4.0, 1.0, 2.0, 2.0)');

CREATE VIEW indexed_observations AS SELECT id, id * 8 + 1 AS entry,
  'p' || lower(hex(project)) || ' kobservation t' || lower(type) AS scope,
  title || char(10) || coalesce(subtitle, '') AS title,
  coalesce(narrative, '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(facts)), '') AS body,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(files_modified)), '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(files_read)), '') AS files,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(concepts)), '') AS concepts
FROM observations WHERE deleted_at IS NULL AND same_as IS NULL;

CREATE VIEW indexed_summaries AS SELECT id, id * 8 + 2 AS entry,
  'p' || lower(hex(project)) || ' ksummary' AS scope,
  request AS title,
  investigated || char(10) || learned || char(10) || completed || char(10) || next_steps || char(10) || notes AS body,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(files_edited)), '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(files_read)), '') AS files,
  '' AS concepts
FROM session_summaries WHERE deleted_at IS NULL;

CREATE VIEW indexed_prompts AS SELECT id, id * 8 + 3 AS entry,
  'p' || lower(hex(project)) || ' kprompt' AS scope, '' AS title, prompt_text AS body, '' AS files, '' AS concepts
FROM user_prompts WHERE deleted_at IS NULL;

CREATE TRIGGER observation_enters_index AFTER INSERT ON observations
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = NEW.id; END;
CREATE TRIGGER observation_leaves_index BEFORE DELETE ON observations
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = OLD.id; END;
CREATE TRIGGER observation_changes_in_index BEFORE UPDATE OF id,
  project, type, title, subtitle, narrative, facts, concepts, files_read, files_modified, deleted_at,
  same_as ON observations
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = OLD.id; END;
CREATE TRIGGER observation_changed_in_index AFTER UPDATE OF id,
  project, type, title, subtitle, narrative, facts, concepts, files_read, files_modified, deleted_at,
  same_as ON observations
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = NEW.id; END;
INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_observations;

CREATE TRIGGER summary_enters_index AFTER INSERT ON session_summaries
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = NEW.id; END;
CREATE TRIGGER summary_leaves_index BEFORE DELETE ON session_summaries
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = OLD.id; END;
CREATE TRIGGER summary_changes_in_index BEFORE UPDATE OF id,
  project, request, investigated, learned, completed, next_steps, notes, files_read, files_edited, deleted_at ON session_summaries
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = OLD.id; END;
CREATE TRIGGER summary_changed_in_index AFTER UPDATE OF id,
  project, request, investigated, learned, completed, next_steps, notes, files_read, files_edited, deleted_at ON session_summaries
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = NEW.id; END;
INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_summaries;

CREATE TRIGGER prompt_enters_index AFTER INSERT ON user_prompts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = NEW.id; END;
CREATE TRIGGER prompt_leaves_index BEFORE DELETE ON user_prompts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = OLD.id; END;
CREATE TRIGGER prompt_changes_in_index BEFORE UPDATE OF id,
  project, prompt_text, deleted_at ON user_prompts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = OLD.id; END;
CREATE TRIGGER prompt_changed_in_index AFTER UPDATE OF id,
  project, prompt_text, deleted_at ON user_prompts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = NEW.id; END;
INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_prompts;

-- What the sessions of a project were given, the newest first.
CREATE INDEX injections_by_project ON injections(project, id);
)sql";

const std::string_view kSearchLists = R"sql(
-- A list that damage has made something else is indexed as empty: it must not keep its row from being saved.
DROP VIEW indexed_observations;
CREATE VIEW indexed_observations AS SELECT id, id * 8 + 1 AS entry,
  'p' || lower(hex(project)) || ' kobservation t' || lower(type) AS scope,
  title || char(10) || coalesce(subtitle, '') AS title,
  coalesce(narrative, '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(facts), facts, '[]'))), '') AS body,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_modified), files_modified, '[]'))), '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_read), files_read, '[]'))), '') AS files,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(concepts), concepts, '[]'))), '') AS concepts
FROM observations WHERE deleted_at IS NULL AND same_as IS NULL;
DROP VIEW indexed_summaries;
CREATE VIEW indexed_summaries AS SELECT id, id * 8 + 2 AS entry,
  'p' || lower(hex(project)) || ' ksummary' AS scope,
  request AS title,
  investigated || char(10) || learned || char(10) || completed || char(10) || next_steps || char(10) || notes AS body,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_edited), files_edited, '[]'))), '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_read), files_read, '[]'))), '') AS files,
  '' AS concepts
FROM session_summaries WHERE deleted_at IS NULL;
)sql";

}  // namespace cairn::store
