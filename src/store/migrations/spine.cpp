#include "store/migrations/migrations.h"

namespace cairn::store {

// Times are epoch milliseconds beside ISO-8601 text where a person or an importer reads them. Rows that may
// leave the machine carry uuid, origin and deleted_at.
const std::string_view kSpine = R"sql(
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- One row per project. `key` is the real path of the git common directory, or a directory.
CREATE TABLE projects(
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE CHECK(name <> ''),
  root TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
);

CREATE TABLE sdk_sessions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL CHECK(content_session_id <> ''),
  memory_session_id TEXT UNIQUE CHECK(memory_session_id <> '' AND memory_session_id <> content_session_id),
  memory_provider TEXT,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  branch TEXT,
  worktree TEXT,
  cwd TEXT,
  transcript_path TEXT,
  user_prompt TEXT,
  prompt_count INTEGER NOT NULL DEFAULT 0,
  host_pid INTEGER NOT NULL DEFAULT 0,
  host_start INTEGER NOT NULL DEFAULT 0,
  host_boot_id TEXT NOT NULL DEFAULT '',
  started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL,
  last_event_at_epoch INTEGER NOT NULL,
  completed_at TEXT,
  completed_at_epoch INTEGER,
  status TEXT NOT NULL DEFAULT 'active' CHECK(status IN ('active', 'completed', 'failed')),
  end_reason TEXT,
  hidden INTEGER NOT NULL DEFAULT 0,
  deleted_at TEXT,
  UNIQUE(platform, content_session_id),
  CHECK((status = 'active') = (completed_at_epoch IS NULL)),
  CHECK((memory_session_id IS NULL) = (memory_provider IS NULL))
);
CREATE INDEX sessions_by_content ON sdk_sessions(content_session_id);
CREATE INDEX sessions_by_project ON sdk_sessions(project, started_at_epoch);
CREATE INDEX sessions_active ON sdk_sessions(last_event_at_epoch) WHERE status = 'active';

-- A memory id is never a content id, of any session, whichever comes first.
CREATE TRIGGER sessions_memory_is_not_content BEFORE UPDATE OF memory_session_id ON sdk_sessions
WHEN EXISTS (SELECT 1 FROM sdk_sessions WHERE content_session_id = NEW.memory_session_id)
BEGIN SELECT RAISE(ABORT, 'memory_session_id is a content_session_id'); END;
CREATE TRIGGER sessions_insert_ids_apart BEFORE INSERT ON sdk_sessions
WHEN EXISTS (SELECT 1 FROM sdk_sessions WHERE memory_session_id = NEW.content_session_id)
  OR EXISTS (SELECT 1 FROM sdk_sessions WHERE content_session_id = NEW.memory_session_id)
BEGIN SELECT RAISE(ABORT, 'content_session_id and memory_session_id must differ across sessions'); END;
CREATE TRIGGER sessions_content_is_not_memory BEFORE UPDATE OF content_session_id ON sdk_sessions
WHEN EXISTS (SELECT 1 FROM sdk_sessions WHERE memory_session_id = NEW.content_session_id)
BEGIN SELECT RAISE(ABORT, 'content_session_id is a memory_session_id'); END;

-- Every event that was delivered, settled once: what became of it and why. seq is the order after intake.
CREATE TABLE events(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id TEXT NOT NULL UNIQUE,
  session_db_id INTEGER REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  source TEXT NOT NULL DEFAULT 'hook' CHECK(source IN ('hook', 'transcript')),
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK(outcome IN ('stored', 'duplicate', 'skipped', 'private', 'own_agent', 'bad')),
  reason TEXT,
  prompt_number INTEGER,
  prompt_id TEXT,
  tool_name TEXT,
  tool_use_id TEXT,
  agent_id TEXT,
  agent_type TEXT,
  cwd TEXT,
  payload_hash TEXT,
  cut INTEGER NOT NULL DEFAULT 0,
  created_at_epoch INTEGER NOT NULL,
  taken_in_at_epoch INTEGER NOT NULL
);
CREATE UNIQUE INDEX events_one_per_tool_use ON events(session_db_id, tool_use_id, kind)
  WHERE tool_use_id IS NOT NULL AND outcome = 'stored';
CREATE INDEX events_by_turn ON events(session_db_id, prompt_number, seq);
CREATE INDEX events_equal ON events(session_db_id, payload_hash, name);
CREATE INDEX events_starts ON events(session_db_id, seq) WHERE kind = 'session_start';
CREATE INDEX events_odd ON events(outcome) WHERE outcome <> 'stored';

-- Texts of events, compressed, each stored once however often it occurs.
CREATE TABLE payloads(
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL,
  body BLOB NOT NULL
);

-- A kept event: what it said. One row per occurrence.
CREATE TABLE evidence(
  event_seq INTEGER PRIMARY KEY REFERENCES events(seq) ON DELETE CASCADE,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  input_payload INTEGER REFERENCES payloads(id),
  response_payload INTEGER REFERENCES payloads(id),
  extra_payload INTEGER REFERENCES payloads(id),
  created_at_epoch INTEGER NOT NULL
);
CREATE INDEX evidence_by_session ON evidence(session_db_id);
CREATE INDEX evidence_by_input ON evidence(input_payload) WHERE input_payload IS NOT NULL;
CREATE INDEX evidence_by_response ON evidence(response_payload) WHERE response_payload IS NOT NULL;
CREATE INDEX evidence_by_extra ON evidence(extra_payload) WHERE extra_payload IS NOT NULL;

CREATE TABLE user_prompts(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  content_session_id TEXT NOT NULL,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  prompt_number INTEGER NOT NULL CHECK(prompt_number >= 1),
  prompt_text TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  deleted_at TEXT,
  UNIQUE(session_db_id, prompt_number)
);
CREATE INDEX prompts_by_project ON user_prompts(project, created_at_epoch);

-- A turn: from a prompt to its stop. ended_at_epoch NULL = open.
CREATE TABLE turns(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL CHECK(prompt_number >= 1),
  started_at_epoch INTEGER NOT NULL,
  last_event_at_epoch INTEGER NOT NULL,
  ended_at_epoch INTEGER,
  end_reason TEXT CHECK(end_reason IN ('stop', 'stop_failure', 'next_prompt', 'session_end', 'session_start', 'idle', 'dead_host', 'process')),
  failure TEXT,
  last_assistant_message TEXT,
  muted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(session_db_id, prompt_number),
  CHECK((ended_at_epoch IS NULL) = (end_reason IS NULL))
) WITHOUT ROWID;
CREATE INDEX turns_open ON turns(last_event_at_epoch) WHERE ended_at_epoch IS NULL;

-- The host's prompt ids of a turn: the user's own, and those of notifications that went on with it.
CREATE TABLE prompt_ids(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  PRIMARY KEY(session_db_id, prompt_id)
) WITHOUT ROWID;

CREATE TABLE pending_messages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_seq INTEGER NOT NULL UNIQUE REFERENCES events(seq) ON DELETE CASCADE,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  content_session_id TEXT NOT NULL,
  message_type TEXT NOT NULL CHECK(message_type IN ('observation', 'summarize')),
  tool_name TEXT,
  tool_input TEXT,
  tool_response TEXT,
  cwd TEXT,
  last_user_message TEXT,
  last_assistant_message TEXT,
  prompt_number INTEGER,
  status TEXT NOT NULL DEFAULT 'pending' CHECK(status IN ('pending', 'processing', 'processed', 'failed')),
  retry_count INTEGER NOT NULL DEFAULT 0,
  created_at_epoch INTEGER NOT NULL,
  started_processing_at_epoch INTEGER,
  completed_at_epoch INTEGER,
  batch_id TEXT,
  lease TEXT,
  lease_until_epoch INTEGER,
  not_before_epoch INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  extra TEXT,
  CHECK((status = 'processing') <= (batch_id IS NOT NULL AND lease IS NOT NULL AND started_processing_at_epoch IS NOT NULL)),
  CHECK((status IN ('processed', 'failed')) = (completed_at_epoch IS NOT NULL))
);
CREATE INDEX queue_by_status ON pending_messages(status, session_db_id, id);
CREATE INDEX queue_by_turn ON pending_messages(session_db_id, prompt_number, id);
CREATE INDEX queue_processed ON pending_messages(completed_at_epoch, id) WHERE status = 'processed';

CREATE TABLE observations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  memory_session_id TEXT NOT NULL REFERENCES sdk_sessions(memory_session_id) ON UPDATE CASCADE ON DELETE CASCADE,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  subtitle TEXT,
  facts TEXT NOT NULL DEFAULT '[]',
  narrative TEXT,
  concepts TEXT NOT NULL DEFAULT '[]',
  files_read TEXT NOT NULL DEFAULT '[]',
  files_modified TEXT NOT NULL DEFAULT '[]',
  prompt_number INTEGER,
  discovery_tokens INTEGER NOT NULL DEFAULT 0,
  content_hash TEXT NOT NULL,
  batch_id TEXT,
  position INTEGER,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  deleted_at TEXT,
  UNIQUE(batch_id, position)
);
CREATE INDEX observations_by_memory ON observations(memory_session_id);
CREATE INDEX observations_by_project ON observations(project, created_at_epoch) WHERE deleted_at IS NULL;

CREATE TABLE observation_evidence(
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  event_seq INTEGER NOT NULL REFERENCES events(seq) ON DELETE CASCADE,
  PRIMARY KEY(observation_id, event_seq)
) WITHOUT ROWID;
CREATE INDEX observation_evidence_by_event ON observation_evidence(event_seq);

CREATE TABLE observation_files(
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  modified INTEGER NOT NULL,
  PRIMARY KEY(observation_id, path, modified)
) WITHOUT ROWID;
CREATE INDEX observation_files_by_path ON observation_files(path);

CREATE TABLE observation_concepts(
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  concept TEXT NOT NULL,
  PRIMARY KEY(observation_id, concept)
) WITHOUT ROWID;
CREATE INDEX observation_concepts_by_concept ON observation_concepts(concept);

-- One row per (session, prompt number): first the built-in summary, later a model's in its place.
CREATE TABLE session_summaries(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  memory_session_id TEXT NOT NULL REFERENCES sdk_sessions(memory_session_id) ON UPDATE CASCADE ON DELETE CASCADE,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  provider TEXT NOT NULL DEFAULT 'builtin',
  interim INTEGER NOT NULL DEFAULT 0,
  request TEXT NOT NULL DEFAULT '',
  investigated TEXT NOT NULL DEFAULT '',
  learned TEXT NOT NULL DEFAULT '',
  completed TEXT NOT NULL DEFAULT '',
  next_steps TEXT NOT NULL DEFAULT '',
  notes TEXT NOT NULL DEFAULT '',
  summary_text TEXT GENERATED ALWAYS AS (
    request || char(10) || investigated || char(10) || learned || char(10) || completed || char(10) || next_steps || char(10) || notes) VIRTUAL,
  files_read TEXT NOT NULL DEFAULT '[]',
  files_edited TEXT NOT NULL DEFAULT '[]',
  prompt_number INTEGER NOT NULL,
  discovery_tokens INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  updated_at_epoch INTEGER NOT NULL,
  deleted_at TEXT,
  UNIQUE(memory_session_id, prompt_number)
);
CREATE INDEX summaries_by_project ON session_summaries(project, created_at_epoch) WHERE deleted_at IS NULL;
CREATE INDEX summaries_by_update ON session_summaries(project, updated_at_epoch) WHERE deleted_at IS NULL;

-- Receipts: what was put before a session, and whether its hook confirmed that it printed it.
CREATE TABLE injections(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id TEXT NOT NULL,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  event_name TEXT NOT NULL,
  source TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  characters INTEGER NOT NULL,
  text_hash TEXT NOT NULL,
  items TEXT NOT NULL DEFAULT '[]',
  up_to_epoch INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  given_at_epoch INTEGER
);
CREATE INDEX injections_by_session ON injections(session_db_id, id);
CREATE INDEX injections_by_event ON injections(event_id);
)sql";

}  // namespace cairn::store
