#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kProjectMoves = R"sql(
-- The project to which the rows of this one are moving: a name that was given up. Its rows are shown with those of the
-- other until all have moved, then this row goes.
ALTER TABLE projects ADD COLUMN moves_to INTEGER REFERENCES projects(id);
CREATE INDEX projects_moving ON projects(moves_to) WHERE moves_to IS NOT NULL;
DROP VIEW project_scope;
CREATE VIEW project_names AS
  SELECT name AS project, name AS member FROM projects
  UNION ALL
  SELECT t.name, f.name FROM projects t JOIN projects f ON f.moves_to = t.id AND f.moves_to IS NOT NULL
  UNION ALL
  SELECT f.name, t.name FROM projects f JOIN projects t ON t.id = f.moves_to
  UNION ALL
  SELECT f.name, g.name FROM projects f JOIN projects g ON g.moves_to = f.moves_to AND g.moves_to IS NOT NULL AND g.id <> f.id;
CREATE VIEW project_scope AS
  SELECT project, member FROM project_names
  UNION ALL
  SELECT p.name, m.name FROM projects p JOIN projects t ON t.id = coalesce(p.moves_to, p.id)
    JOIN projects m ON m.scope = t.scope AND m.id <> t.id
  UNION ALL
  SELECT p.name, f.name FROM projects p JOIN projects t ON t.id = coalesce(p.moves_to, p.id)
    JOIN projects m ON m.scope = t.scope AND m.id <> t.id
    JOIN projects f ON f.moves_to = m.id AND f.moves_to IS NOT NULL;
)sql";

}  // namespace cairn::store
