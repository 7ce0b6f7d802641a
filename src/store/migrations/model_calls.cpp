#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kModelCalls = R"sql(
-- The ledger: one row for each call of a model. A row is written before its call, with the most that the call can use;
-- its end replaces that by what the provider reported. A row that is still `open` when a daemon starts belongs to a daemon
-- that died: it becomes `lost` and keeps the most it could have used.
CREATE TABLE model_calls(
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,             -- turn, backlog, redistil, test
  session_db_id INTEGER REFERENCES sdk_sessions(id) ON DELETE SET NULL,
  batch_id TEXT,
  events INTEGER NOT NULL DEFAULT 0,
  started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL,
  day INTEGER NOT NULL,              -- days since 1970-01-01, UTC
  duration_ms INTEGER,
  reserved_tokens INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL,                     -- NULL: no price is known
  estimated INTEGER NOT NULL DEFAULT 1,  -- the tokens were not reported
  outcome TEXT NOT NULL DEFAULT 'open'   -- open, ok, skipped, unusable, lost, or the class of an error
);
CREATE INDEX model_calls_by_day ON model_calls(day, purpose);
CREATE INDEX model_calls_by_provider ON model_calls(provider, id);
CREATE INDEX model_calls_open ON model_calls(id) WHERE outcome = 'open';
-- Turns that a provider is to distil from their evidence: those that the built-in distiller did while the provider
-- failed (backlog), and those that a person asked for.
CREATE TABLE redistil_turns(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL,
  purpose TEXT NOT NULL,             -- backlog, redistil
  provider TEXT NOT NULL,
  done_to INTEGER NOT NULL DEFAULT 0,    -- events.seq: events up to here are done
  tries INTEGER NOT NULL DEFAULT 0,
  at_epoch INTEGER NOT NULL,         -- when the turn ended: the newest is distilled first
  last_error TEXT,
  PRIMARY KEY(session_db_id, prompt_number)
) WITHOUT ROWID;
CREATE INDEX redistil_by_time ON redistil_turns(at_epoch);
-- What the person wants in general, as a model understood it; a JSON list.
ALTER TABLE session_summaries ADD COLUMN rules TEXT NOT NULL DEFAULT '[]';
-- The host's own failures: a provider that uses the same login is not called after one.
CREATE INDEX turns_failed ON turns(ended_at_epoch) WHERE end_reason = 'stop_failure';
)sql";

}  // namespace cairn::store
