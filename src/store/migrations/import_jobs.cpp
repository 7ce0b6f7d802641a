#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kImportJobs = R"sql(
-- Memories of other tools that are being imported, or were. `position`: how far it is. `report`: what was imported, what
-- was known and what was left out, as JSON.
CREATE TABLE import_jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  path TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK(state IN ('pending', 'done', 'failed')),
  reason TEXT,
  position TEXT NOT NULL DEFAULT '',
  report TEXT NOT NULL DEFAULT '{}',
  started_at_epoch INTEGER NOT NULL,
  ended_at_epoch INTEGER
);
CREATE INDEX import_jobs_pending ON import_jobs(id) WHERE state = 'pending';

-- What a record was before it was imported: `key` is the same whenever it is imported, old_id is how the other tool
-- named it. `hash` is of its text then, for sources that change. A row stays when its record is forgotten, so that the
-- next import does not bring it back.
CREATE TABLE import_aliases(
  source TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  old_id TEXT NOT NULL,
  row_id INTEGER,
  hash TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(source, key)
) WITHOUT ROWID;
CREATE INDEX import_aliases_by_id ON import_aliases(source, old_id);
)sql";

}  // namespace cairn::store
