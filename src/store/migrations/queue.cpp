#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kQueue = R"sql(
-- A message that a crash or a lapsed lease left behind is claimed alone (solo), so that only the one that does
-- the harm ends as failed; batch_size says how many were claimed with it, itself included.
ALTER TABLE pending_messages ADD COLUMN solo INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pending_messages ADD COLUMN batch_size INTEGER NOT NULL DEFAULT 0;

-- The queue's own clock at the last claim of one of its messages: whoever waited longest comes first.
ALTER TABLE sdk_sessions ADD COLUMN served INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_served ON sdk_sessions(served);

-- When the memory id was registered first.
ALTER TABLE sdk_sessions ADD COLUMN captured_at_epoch INTEGER;
)sql";

}  // namespace cairn::store
