#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kImports = R"sql(
-- Transcripts of sessions that ended before cairn was there, and what became of each.
CREATE TABLE imports(
  path TEXT PRIMARY KEY,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('pending', 'reading', 'done', 'left_out')),
  reason TEXT,
  bytes INTEGER NOT NULL,
  modified_at_epoch INTEGER NOT NULL,
  found_at_epoch INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX imports_by_state ON imports(state, modified_at_epoch);

-- Whether all of a session was read from its transcript after the fact, none of it from hooks.
ALTER TABLE sdk_sessions ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
)sql";

}  // namespace cairn::store
