#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kSessionSecrets = R"sql(
-- Secrets that were removed from a session's events, so that they are removed from later ones, too. Hashes with the
-- home's key: hash of the whole secret, start of its first eight characters. Nothing of the secret itself.
CREATE TABLE session_secrets (
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  hash INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY (session_db_id, hash)
) WITHOUT ROWID;
)sql";

}  // namespace cairn::store
