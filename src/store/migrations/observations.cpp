#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kObservations = R"sql(
-- Which batch took the event for this observation: one that two batches of a session say has evidence of both.
ALTER TABLE observation_evidence ADD COLUMN batch_id TEXT NOT NULL DEFAULT '';
CREATE INDEX observation_evidence_by_batch ON observation_evidence(batch_id);

-- The earliest equal one of another session of the project: sessions never mix, equal rows are shown as one.
ALTER TABLE observations ADD COLUMN same_as INTEGER REFERENCES observations(id) ON DELETE SET NULL;
CREATE INDEX observations_same ON observations(same_as) WHERE same_as IS NOT NULL;
CREATE INDEX observations_by_content ON observations(content_hash);
)sql";

}  // namespace cairn::store
