#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kBoundFiles = R"sql(
-- `blob` is empty until the daemon has looked at the file, '-' when its content then is not known. Of what was stored
-- before, nobody looked in time.
UPDATE observation_files SET blob = '-' WHERE blob = '';
CREATE INDEX observation_files_due ON observation_files(observation_id) WHERE blob = '';
)sql";

}  // namespace cairn::store
