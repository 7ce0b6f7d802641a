#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kForgetting = R"sql(
-- What was forgotten for good, as keyed hashes of normalised text (gate/forgotten.h). `text`: removed wherever it
-- occurs. `whole`: only a text that is all of it. `secret`: as text, found by its fingerprint. `session`: a session of
-- the host, whose events are refused.
CREATE TABLE tombstones(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK(kind IN ('text', 'whole', 'secret', 'session')),
  hash INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  forget_id INTEGER,
  at_epoch INTEGER NOT NULL,
  UNIQUE(kind, hash, length)
);

-- Every forget, and how far it is. `report` is JSON: counts, no text.
CREATE TABLE forgets(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  way TEXT NOT NULL,
  phase TEXT NOT NULL,
  position TEXT NOT NULL DEFAULT '',
  report TEXT NOT NULL DEFAULT '{}',
  started_at_epoch INTEGER NOT NULL,
  ended_at_epoch INTEGER
);
CREATE INDEX forgets_pending ON forgets(id) WHERE ended_at_epoch IS NULL;
-- What is still to be removed: a record ("O12"), a session ("session 5"), an event ("event 77").
CREATE TABLE forget_targets(
  forget_id INTEGER NOT NULL REFERENCES forgets(id) ON DELETE CASCADE,
  target TEXT NOT NULL,
  PRIMARY KEY(forget_id, target)
) WITHOUT ROWID;

-- What an agent asked to forget. It is hidden; the user decides.
CREATE TABLE forget_requests(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  record TEXT NOT NULL,
  project TEXT NOT NULL,
  reason TEXT NOT NULL,
  at_epoch INTEGER NOT NULL
);
CREATE UNIQUE INDEX forget_requests_by_record ON forget_requests(record);

-- What people and checks decided about a record. A record without a row has what the way it came in gives it.
-- `hidden_by`: why deleted_at is set; empty: it is not hidden. text_hash: of the normalised text that was decided
-- about, so that the decision holds for an equal one. `edited`: a person changed it, nothing else may.
CREATE TABLE record_standing(
  record TEXT PRIMARY KEY,
  trust TEXT CHECK(trust IN ('candidate', 'confirmed', 'disputed', 'rejected', 'stale')),
  pinned INTEGER NOT NULL DEFAULT 0,
  edited INTEGER NOT NULL DEFAULT 0,
  valid_until_epoch INTEGER,
  hidden_by TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  text_hash TEXT NOT NULL DEFAULT '',
  changed_at_epoch INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX record_standing_by_text ON record_standing(text_hash) WHERE text_hash <> '';
CREATE INDEX record_standing_until ON record_standing(valid_until_epoch) WHERE valid_until_epoch IS NOT NULL;

-- What was forgotten, edited, rejected, exported, and which rules changed. Each row has the hash of the one before it.
-- `subject` is a keyed hash, `detail` JSON without text of records.
CREATE TABLE audit(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_epoch INTEGER NOT NULL,
  what TEXT NOT NULL,
  actor TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;

-- Passages can be hidden like every other record.
ALTER TABLE passages ADD COLUMN deleted_at TEXT;

-- The git blob of each file when the observation was made: empty when it was not known.
ALTER TABLE observation_files ADD COLUMN blob TEXT NOT NULL DEFAULT '';
)sql";

}  // namespace cairn::store
