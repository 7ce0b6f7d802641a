#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kTranscripts = R"sql(
-- Whether its transcripts are to be looked at (again); from when on their lines are ours to take.
ALTER TABLE sdk_sessions ADD COLUMN transcript_due INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sdk_sessions ADD COLUMN watched_since_epoch INTEGER;
CREATE INDEX sessions_to_read ON sdk_sessions(status, id) WHERE transcript_due = 1;
CREATE TRIGGER sessions_read_again AFTER UPDATE OF status ON sdk_sessions WHEN NEW.status <> OLD.status
BEGIN UPDATE sdk_sessions SET transcript_due = 1 WHERE id = NEW.id; END;

-- How far each transcript was read: everything before read_to is settled. prompt_id is that of the line there.
CREATE TABLE transcripts(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  inode INTEGER NOT NULL,
  read_to INTEGER NOT NULL,
  prompt_id TEXT NOT NULL,
  lines INTEGER NOT NULL,
  malformed INTEGER NOT NULL,
  too_long INTEGER NOT NULL,
  PRIMARY KEY(session_db_id, path)
) WITHOUT ROWID;

INSERT INTO transcripts SELECT id, transcript_path, 0, 0, '', 0, 0, 0 FROM sdk_sessions
WHERE transcript_path IS NOT NULL AND transcript_path <> '';

-- Every tool call that a transcript names, and what became of it.
CREATE TABLE transcript_calls(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  tool_use_id TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK(outcome IN ('stored', 'recovered', 'counted', 'waiting')),
  reason TEXT,
  at_epoch INTEGER NOT NULL,
  PRIMARY KEY(session_db_id, tool_use_id),
  CHECK((outcome = 'counted') = (reason IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX transcript_calls_waiting ON transcript_calls(at_epoch) WHERE outcome = 'waiting';
CREATE INDEX events_recovered ON events(session_db_id, outcome) WHERE source = 'transcript';

-- When hooks were told to deliver nothing; until_epoch NULL = now.
CREATE TABLE capture_pauses(
  from_epoch INTEGER NOT NULL,
  until_epoch INTEGER
);
)sql";

const std::string_view kMarks = R"sql(
-- The hash of what stands before read_to: a power cut can put other lines of the same length in their place.
ALTER TABLE transcripts ADD COLUMN mark TEXT NOT NULL DEFAULT '';
)sql";

}  // namespace cairn::store
