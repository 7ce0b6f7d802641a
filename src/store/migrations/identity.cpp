#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kProjectIdentity = R"sql(
-- What a repository keeps when it is moved, renamed or cloned again. NULL: not known.
ALTER TABLE projects ADD COLUMN root_commit TEXT;
ALTER TABLE projects ADD COLUMN remote TEXT;
-- The commit from which root_commit was looked for: only what is newer is read the next time.
ALTER TABLE projects ADD COLUMN head_commit TEXT;
-- Whether the repository is to be looked at (again).
ALTER TABLE projects ADD COLUMN is_due INTEGER NOT NULL DEFAULT 1;
-- Linked projects carry the same number, the others none.
ALTER TABLE projects ADD COLUMN scope INTEGER;
CREATE INDEX projects_by_root_commit ON projects(root_commit) WHERE root_commit IS NOT NULL;
CREATE INDEX projects_by_remote ON projects(remote) WHERE remote IS NOT NULL;
CREATE INDEX projects_by_root ON projects(root);
CREATE INDEX projects_due ON projects(id) WHERE is_due = 1;
CREATE INDEX projects_by_scope ON projects(scope) WHERE scope IS NOT NULL;
CREATE INDEX sessions_by_worktree ON sdk_sessions(worktree) WHERE worktree IS NOT NULL;

-- Every project with each project whose rows its reads show: itself, and those linked with it.
CREATE VIEW project_scope AS
  SELECT name AS project, name AS member FROM projects
  UNION ALL
  SELECT p.name, m.name FROM projects p JOIN projects m ON m.scope = p.scope AND m.id <> p.id;

-- Two projects that belong together, perhaps do, or do not whatever it looks like (apart).
CREATE TABLE project_links(
  a INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  b INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK(state IN ('linked', 'suggested', 'apart')),
  made_by TEXT NOT NULL CHECK(made_by IN ('user', 'cairn')),
  reason TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  PRIMARY KEY(a, b),
  CHECK(a < b)
) WITHOUT ROWID;
CREATE INDEX project_links_by_b ON project_links(b);

-- What happened to a project's identity: the paths and names it had, whom it was linked with. For lookups of
-- an old path or name, and for the notice of the next session.
CREATE TABLE project_history(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  what TEXT NOT NULL CHECK(what IN ('repository', 'moved', 'renamed', 'linked', 'unlinked', 'suggested')),
  made_by TEXT NOT NULL CHECK(made_by IN ('user', 'cairn')),
  old_key TEXT,
  old_root TEXT,
  old_name TEXT,
  other_id INTEGER REFERENCES projects(id) ON DELETE SET NULL,
  at_epoch INTEGER NOT NULL
);
CREATE INDEX project_history_by_project ON project_history(project_id, id);
CREATE INDEX project_history_by_other ON project_history(other_id) WHERE other_id IS NOT NULL;
CREATE INDEX project_history_by_key ON project_history(old_key) WHERE old_key IS NOT NULL;
CREATE INDEX project_history_by_root ON project_history(old_root) WHERE old_root IS NOT NULL;
CREATE INDEX project_history_by_name ON project_history(old_name) WHERE old_name IS NOT NULL;
)sql";

}  // namespace cairn::store
