#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kRetention = R"sql(
-- The oldest texts go first. Imported events are older than their number says.
CREATE INDEX evidence_by_time ON evidence(created_at_epoch, event_seq);
-- Whether texts of its events were removed.
ALTER TABLE turns ADD COLUMN expired INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET expired = 1 WHERE (SELECT min(e.seq) FROM events e WHERE e.session_db_id = turns.session_db_id
  AND e.prompt_number = turns.prompt_number AND e.outcome = 'stored')
  < coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'evidence_begins'), 0);
DELETE FROM meta WHERE key = 'evidence_begins';
)sql";

}  // namespace cairn::store
