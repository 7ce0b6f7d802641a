#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kOpenItems = R"sql(
-- What is left to do: tasks of the host, next steps and closing questions of an answer, plans, interruptions, and what a
-- person added. One row for each, from when it was opened until something closed it; a closed row stays.
-- `key` finds it again: the host's number of a task, else the folded text. `detail` is the whole plan.
-- closed_session and closed_prompt name the turn that closed it, so that telling that turn again can decide anew.
CREATE TABLE open_items(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  branch TEXT,
  session_db_id INTEGER REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER,
  seen_prompt INTEGER NOT NULL DEFAULT 0,
  source TEXT NOT NULL CHECK(source IN ('task', 'next_step', 'question', 'plan', 'interruption', 'person')),
  state TEXT NOT NULL DEFAULT '',
  key TEXT NOT NULL,
  text TEXT NOT NULL CHECK(text <> ''),
  detail TEXT NOT NULL DEFAULT '',
  event_seq INTEGER REFERENCES events(seq) ON DELETE SET NULL,
  opened_at TEXT NOT NULL,
  opened_at_epoch INTEGER NOT NULL,
  last_seen_at_epoch INTEGER NOT NULL,
  closed_at TEXT,
  closed_at_epoch INTEGER,
  closed_by TEXT,
  closed_session INTEGER REFERENCES sdk_sessions(id) ON DELETE SET NULL,
  closed_prompt INTEGER,
  deleted_at TEXT,
  CHECK((closed_at_epoch IS NULL) = (closed_by IS NULL)),
  CHECK((source = 'person') = (session_db_id IS NULL))
);
CREATE INDEX open_items_open ON open_items(project, last_seen_at_epoch) WHERE closed_at_epoch IS NULL AND deleted_at IS NULL;
CREATE INDEX open_items_by_turn ON open_items(session_db_id, prompt_number);
CREATE INDEX open_items_closed_by ON open_items(closed_session, closed_prompt) WHERE closed_session IS NOT NULL;
CREATE INDEX open_items_by_key ON open_items(project, key) WHERE closed_at_epoch IS NOT NULL;
CREATE INDEX open_items_by_event ON open_items(event_seq) WHERE event_seq IS NOT NULL;

-- Search finds them: entry is the row's id times 8, plus 6.
CREATE VIEW indexed_open_items AS SELECT id, id * 8 + 6 AS entry,
  'p' || lower(hex(project)) || ' kopen' AS scope, text AS title, detail AS body, '' AS files, '' AS concepts
FROM open_items WHERE deleted_at IS NULL;
CREATE TRIGGER open_item_enters_index AFTER INSERT ON open_items
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = NEW.id; END;
CREATE TRIGGER open_item_leaves_index BEFORE DELETE ON open_items
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = OLD.id; END;
CREATE TRIGGER open_item_changes_in_index BEFORE UPDATE OF id, project, text, detail, deleted_at ON open_items
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = OLD.id; END;
CREATE TRIGGER open_item_changed_in_index AFTER UPDATE OF id, project, text, detail, deleted_at ON open_items
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = NEW.id; END;

-- Files that a turn edited after its last commit, and when anybody last committed there: what was edited since is not
-- committed, as far as the events tell. `worktree` is empty for the main one.
CREATE TABLE uncommitted_edits(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  worktree TEXT NOT NULL,
  path TEXT NOT NULL,
  at_epoch INTEGER NOT NULL,
  PRIMARY KEY(session_db_id, prompt_number, path)
) WITHOUT ROWID;
CREATE INDEX uncommitted_edits_by_place ON uncommitted_edits(project, worktree, at_epoch);
CREATE TABLE last_commits(
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  worktree TEXT NOT NULL,
  at_epoch INTEGER NOT NULL,
  PRIMARY KEY(project, worktree)
) WITHOUT ROWID;

-- Which observations a person stored by hand, and who is given them: the sessions of its project, or of all projects.
-- done_at_epoch: since when nobody is given it any more.
CREATE TABLE notes(
  observation_id INTEGER PRIMARY KEY REFERENCES observations(id) ON DELETE CASCADE,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  for_all INTEGER NOT NULL DEFAULT 0,
  done_at_epoch INTEGER
);
CREATE INDEX notes_given ON notes(project, observation_id) WHERE done_at_epoch IS NULL;
CREATE INDEX notes_for_all ON notes(observation_id) WHERE for_all = 1 AND done_at_epoch IS NULL;
INSERT INTO notes(observation_id, project) SELECT o.id, o.project FROM observations o JOIN sdk_sessions s
  ON s.memory_session_id = o.memory_session_id WHERE s.platform = 'cairn' AND s.hidden = 1;

-- What a prompt ordered for good ("always", "never", "from now on"): a candidate for a note.
CREATE TABLE standing_orders(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL,
  text TEXT NOT NULL CHECK(text <> ''),
  said_at_epoch INTEGER NOT NULL,
  done_at_epoch INTEGER,
  UNIQUE(session_db_id, prompt_number, text)
);
CREATE INDEX standing_orders_by_project ON standing_orders(project, id) WHERE done_at_epoch IS NULL;
)sql";

}  // namespace cairn::store
