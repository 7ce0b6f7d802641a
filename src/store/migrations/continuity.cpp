#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kContinuity = R"sql(
-- Files with instructions that the host loaded when a session started, beside our own text.
CREATE TABLE instruction_files(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  PRIMARY KEY(session_db_id, path)
) WITHOUT ROWID;

-- Sessions whose document is to be written or brought up to date without being asked (automation = "auto").
CREATE TABLE document_jobs(
  session_db_id INTEGER PRIMARY KEY REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  cause TEXT NOT NULL CHECK(cause IN ('end', 'compaction')),
  not_before_epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX document_jobs_due ON document_jobs(not_before_epoch);

-- The user was warned that this session's context is nearly full; a compaction resets it.
ALTER TABLE sdk_sessions ADD COLUMN window_told INTEGER NOT NULL DEFAULT 0;
)sql";

}  // namespace cairn::store
