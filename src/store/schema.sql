-- The tables as they are now. An empty database gets this file; older ones come to the same by the migrations in schema.cpp
-- and migrations/, which never change. Whoever adds a migration changes this file as well: a test compares the two
-- (SchemaNow in tests/unit/store_schema_test.cpp). A new column stands last among the columns of its table, a new index or
-- trigger last among those of its table, as a migration adds them.
--
-- Times are epoch milliseconds beside ISO-8601 text where a person or an importer reads them. Rows that may leave the
-- machine carry uuid, origin and deleted_at.

-- Single values; store/meta.h names them.
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Projects ----------------------------------------------------------------------------------------------------------

-- One row per project. `key` is the real path of the git common directory, or a directory. root_commit and remote are
-- what a repository keeps when it is moved, renamed or cloned again; NULL: not known. head_commit is the commit from
-- which root_commit was looked for: only what is newer is read the next time. is_due: the repository is to be looked at
-- (again). `scope`: linked projects have the same number, the others none. `moves_to`:
-- this name was given up; its rows are shown with those of that project until all have moved, then this row goes.
CREATE TABLE projects(
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE CHECK(name <> ''),
  root TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  root_commit TEXT,
  remote TEXT,
  head_commit TEXT,
  is_due INTEGER NOT NULL DEFAULT 1,
  scope INTEGER,
  moves_to INTEGER REFERENCES projects(id)
);
CREATE INDEX projects_by_root_commit ON projects(root_commit) WHERE root_commit IS NOT NULL;
CREATE INDEX projects_by_remote ON projects(remote) WHERE remote IS NOT NULL;
CREATE INDEX projects_by_root ON projects(root);
CREATE INDEX projects_due ON projects(id) WHERE is_due = 1;
CREATE INDEX projects_by_scope ON projects(scope) WHERE scope IS NOT NULL;
CREATE INDEX projects_moving ON projects(moves_to) WHERE moves_to IS NOT NULL;

-- Every name of a project with each other name that means the same one: while rows move, the old and the new.
CREATE VIEW project_names AS
  SELECT name AS project, name AS member FROM projects
  UNION ALL
  SELECT t.name, f.name FROM projects t JOIN projects f ON f.moves_to = t.id AND f.moves_to IS NOT NULL
  UNION ALL
  SELECT f.name, t.name FROM projects f JOIN projects t ON t.id = f.moves_to
  UNION ALL
  SELECT f.name, g.name FROM projects f JOIN projects g ON g.moves_to = f.moves_to AND g.moves_to IS NOT NULL AND g.id <> f.id;
-- Every project with each name whose rows its reads show: its own, and those of the projects linked with it.
CREATE VIEW project_scope AS
  SELECT project, member FROM project_names
  UNION ALL
  SELECT p.name, m.name FROM projects p JOIN projects t ON t.id = coalesce(p.moves_to, p.id)
    JOIN projects m ON m.scope = t.scope AND m.id <> t.id
  UNION ALL
  SELECT p.name, f.name FROM projects p JOIN projects t ON t.id = coalesce(p.moves_to, p.id)
    JOIN projects m ON m.scope = t.scope AND m.id <> t.id
    JOIN projects f ON f.moves_to = m.id AND f.moves_to IS NOT NULL;

-- Two projects that belong together, perhaps do, or do not whatever it looks like (apart).
CREATE TABLE project_links(
  a INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  b INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK(state IN ('linked', 'suggested', 'apart')),
  made_by TEXT NOT NULL CHECK(made_by IN ('user', 'cairn')),
  reason TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  PRIMARY KEY(a, b),
  CHECK(a < b)
) WITHOUT ROWID;
CREATE INDEX project_links_by_b ON project_links(b);

-- What happened to a project's identity: the paths and names it had, whom it was linked with. For lookups of
-- an old path or name, and for the notice of the next session.
CREATE TABLE project_history(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  what TEXT NOT NULL CHECK(what IN ('repository', 'moved', 'renamed', 'linked', 'unlinked', 'suggested')),
  made_by TEXT NOT NULL CHECK(made_by IN ('user', 'cairn')),
  old_key TEXT,
  old_root TEXT,
  old_name TEXT,
  other_id INTEGER REFERENCES projects(id) ON DELETE SET NULL,
  at_epoch INTEGER NOT NULL
);
CREATE INDEX project_history_by_project ON project_history(project_id, id);
CREATE INDEX project_history_by_other ON project_history(other_id) WHERE other_id IS NOT NULL;
CREATE INDEX project_history_by_key ON project_history(old_key) WHERE old_key IS NOT NULL;
CREATE INDEX project_history_by_root ON project_history(old_root) WHERE old_root IS NOT NULL;
CREATE INDEX project_history_by_name ON project_history(old_name) WHERE old_name IS NOT NULL;

-- Sessions, and what was said in them -------------------------------------------------------------------------------

-- One row per session of a coding agent (`platform`), which calls it content_session_id. memory_session_id is the id that
-- its distiller (memory_provider) has for it, registered first at captured_at_epoch; what was learned refers to it.
-- transcript_due: its transcripts are to be looked at (again). watched_since_epoch: from when on their lines are ours to
-- take. `served`: the queue's own clock at the last claim of one of its messages; the session that waited longest comes
-- first. `imported`: all of it was read from its transcript after the fact, nothing from hooks. window_told: the user was
-- warned that its context is nearly full; a compaction resets it. `changed`: it has a turn that is `changed`.
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
  transcript_due INTEGER NOT NULL DEFAULT 1,
  watched_since_epoch INTEGER,
  served INTEGER NOT NULL DEFAULT 0,
  captured_at_epoch INTEGER,
  imported INTEGER NOT NULL DEFAULT 0,
  window_told INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 0,
  UNIQUE(platform, content_session_id),
  CHECK((status = 'active') = (completed_at_epoch IS NULL)),
  CHECK((memory_session_id IS NULL) = (memory_provider IS NULL))
);
CREATE INDEX sessions_by_content ON sdk_sessions(content_session_id);
CREATE INDEX sessions_by_project ON sdk_sessions(project, started_at_epoch);
CREATE INDEX sessions_active ON sdk_sessions(last_event_at_epoch) WHERE status = 'active';
CREATE INDEX sessions_to_read ON sdk_sessions(status, id) WHERE transcript_due = 1;
CREATE INDEX sessions_served ON sdk_sessions(served);
-- The sessions of a project that were at work last.
CREATE INDEX sessions_by_activity ON sdk_sessions(project, last_event_at_epoch);
CREATE INDEX sessions_by_worktree ON sdk_sessions(worktree) WHERE worktree IS NOT NULL;
CREATE INDEX sessions_changed ON sdk_sessions(project, last_event_at_epoch) WHERE changed = 1;
CREATE INDEX sessions_active_by_project ON sdk_sessions(project, last_event_at_epoch) WHERE status = 'active';
-- What lists are sorted by.
CREATE INDEX sessions_by_last_event ON sdk_sessions(last_event_at_epoch, id);
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
-- A session that ended or came back has lines that were not read.
CREATE TRIGGER sessions_read_again AFTER UPDATE OF status ON sdk_sessions WHEN NEW.status <> OLD.status
BEGIN UPDATE sdk_sessions SET transcript_due = 1 WHERE id = NEW.id; END;

-- What the user typed, one row for each prompt.
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
CREATE INDEX prompts_in_session ON user_prompts(session_db_id, created_at_epoch);
-- Every event asks whether the session's first prompt was deleted.
CREATE INDEX prompts_deleted ON user_prompts(session_db_id) WHERE deleted_at IS NOT NULL;

-- A turn: from a prompt to its stop. ended_at_epoch NULL = open. `expired`: texts of its events were removed. `changed`: it
-- got an event since it was last summarised.
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
  expired INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(session_db_id, prompt_number),
  CHECK((ended_at_epoch IS NULL) = (end_reason IS NULL))
) WITHOUT ROWID;
CREATE INDEX turns_open ON turns(last_event_at_epoch) WHERE ended_at_epoch IS NULL;
-- The host's own failures: a provider that uses the same login is not called after one.
CREATE INDEX turns_failed ON turns(ended_at_epoch) WHERE end_reason = 'stop_failure';
CREATE INDEX turns_changed ON turns(session_db_id, prompt_number) WHERE changed = 1;
CREATE INDEX turns_changed_late ON turns(session_db_id, prompt_number)
  WHERE changed = 1 AND ended_at_epoch IS NOT NULL;
CREATE INDEX turns_open_of_session ON turns(session_db_id, prompt_number) WHERE ended_at_epoch IS NULL;

-- The host's prompt ids of a turn: the user's own, and those of notifications that went on with it.
CREATE TABLE prompt_ids(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  PRIMARY KEY(session_db_id, prompt_id)
) WITHOUT ROWID;

-- What was said in a session, whole: the answers of its turns, remarks between tool calls, summaries of compactions,
-- titles, messages of commits. Each text once per session. prompt_number NULL: it belongs to no turn.
CREATE TABLE texts(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  prompt_number INTEGER,
  kind TEXT NOT NULL CHECK(kind <> ''),
  source TEXT NOT NULL CHECK(source IN ('hook', 'transcript', 'distiller')),
  text TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  deleted_at TEXT,
  UNIQUE(session_db_id, hash)
);
CREATE INDEX texts_by_turn ON texts(session_db_id, prompt_number);
CREATE INDEX texts_by_time ON texts(session_db_id, created_at_epoch);
CREATE INDEX texts_by_project ON texts(project, created_at_epoch);

-- Files with instructions that the host loaded when a session started, beside our own text.
CREATE TABLE instruction_files(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  PRIMARY KEY(session_db_id, path)
) WITHOUT ROWID;

-- Secrets that were removed from a session's events, so that they are removed from later ones, too. Hashes with the
-- home's key: hash of the whole secret, start of its first eight characters. Nothing of the secret itself.
CREATE TABLE session_secrets (
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  hash INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY (session_db_id, hash)
) WITHOUT ROWID;

-- Events, and what they said ----------------------------------------------------------------------------------------

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
CREATE INDEX events_recovered ON events(session_db_id, outcome) WHERE source = 'transcript';
-- The few events that brought text from outside: what a turn's summary is labelled by.
CREATE INDEX events_outside ON events(session_db_id, prompt_number, tool_name)
  WHERE (tool_name IN ('WebFetch', 'WebSearch', 'web_fetch', 'web_search', 'webfetch', 'websearch',
                       'google_web_search') OR substr(tool_name, 1, 4) = 'mcp_');

-- Texts of events, compressed, each stored once however often it occurs.
CREATE TABLE payloads(
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL,
  body BLOB NOT NULL
);

-- A kept event: what it said. One row per occurrence. `indexed`: 0 event_index lacks its words, 1 it has them, 2 there are
-- none, 3 the event waits in the queue.
CREATE TABLE evidence(
  event_seq INTEGER PRIMARY KEY REFERENCES events(seq) ON DELETE CASCADE,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  input_payload INTEGER REFERENCES payloads(id),
  response_payload INTEGER REFERENCES payloads(id),
  extra_payload INTEGER REFERENCES payloads(id),
  created_at_epoch INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX evidence_by_session ON evidence(session_db_id);
CREATE INDEX evidence_by_input ON evidence(input_payload) WHERE input_payload IS NOT NULL;
CREATE INDEX evidence_by_response ON evidence(response_payload) WHERE response_payload IS NOT NULL;
CREATE INDEX evidence_by_extra ON evidence(extra_payload) WHERE extra_payload IS NOT NULL;
-- The oldest texts go first. Imported events are older than their number says.
CREATE INDEX evidence_by_time ON evidence(created_at_epoch, event_seq);
CREATE INDEX evidence_to_index ON evidence(event_seq) WHERE indexed = 0;

-- How far each transcript was read: everything before read_to is settled. prompt_id is that of the line there. `mark` is the
-- hash of what stands before read_to: a power cut can put other lines of the same length in their place.
CREATE TABLE transcripts(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  inode INTEGER NOT NULL,
  read_to INTEGER NOT NULL,
  prompt_id TEXT NOT NULL,
  lines INTEGER NOT NULL,
  malformed INTEGER NOT NULL,
  too_long INTEGER NOT NULL,
  mark TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(session_db_id, path)
) WITHOUT ROWID;

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

-- When hooks were told to deliver nothing; until_epoch NULL = now.
CREATE TABLE capture_pauses(
  from_epoch INTEGER NOT NULL,
  until_epoch INTEGER
);

-- The queue to the model --------------------------------------------------------------------------------------------

-- The queue: events that wait for the model. A message that a crash or a lapsed lease left behind is claimed alone (solo),
-- so that only the one that does the harm ends as failed; batch_size says how many were claimed with it, itself included.
-- `ready`: its turn has ended, so it may be claimed. Kept here by triggers, so that a claim finds such messages in an
-- index however many wait for the end of their turn.
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
  solo INTEGER NOT NULL DEFAULT 0,
  batch_size INTEGER NOT NULL DEFAULT 0,
  ready INTEGER NOT NULL DEFAULT 1,
  CHECK((status = 'processing') <= (batch_id IS NOT NULL AND lease IS NOT NULL AND started_processing_at_epoch IS NOT NULL)),
  CHECK((status IN ('processed', 'failed')) = (completed_at_epoch IS NOT NULL))
);
CREATE INDEX queue_by_status ON pending_messages(status, session_db_id, id);
CREATE INDEX queue_by_turn ON pending_messages(session_db_id, prompt_number, id);
CREATE INDEX queue_processed ON pending_messages(completed_at_epoch, id) WHERE status = 'processed';
CREATE INDEX queue_ready ON pending_messages(session_db_id, id) WHERE status = 'pending' AND ready = 1;
CREATE TRIGGER turn_ends_for_queue AFTER UPDATE OF ended_at_epoch ON turns
WHEN (OLD.ended_at_epoch IS NULL) <> (NEW.ended_at_epoch IS NULL)
BEGIN UPDATE pending_messages SET ready = NEW.ended_at_epoch IS NOT NULL
  WHERE session_db_id = NEW.session_db_id AND prompt_number = NEW.prompt_number AND status <> 'processed'; END;
CREATE TRIGGER turn_leaves_queue AFTER DELETE ON turns WHEN OLD.ended_at_epoch IS NULL
BEGIN UPDATE pending_messages SET ready = 1
  WHERE session_db_id = OLD.session_db_id AND prompt_number = OLD.prompt_number AND status <> 'processed'; END;

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

-- What was learned --------------------------------------------------------------------------------------------------

-- One thing that was learned. same_as is the earliest equal one of another session of the project: sessions never mix,
-- equal rows are shown as one.
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
  same_as INTEGER REFERENCES observations(id) ON DELETE SET NULL,
  UNIQUE(batch_id, position)
);
CREATE INDEX observations_by_project ON observations(project, created_at_epoch) WHERE deleted_at IS NULL;
CREATE INDEX observations_same ON observations(same_as) WHERE same_as IS NOT NULL;
CREATE INDEX observations_by_content ON observations(content_hash);
-- Ranking reads what was said before and after a record.
CREATE INDEX observations_in_session ON observations(memory_session_id, created_at_epoch);

-- The events that an observation was made from. batch_id is the batch that took the event for it: what two batches of a
-- session say has evidence of both.
CREATE TABLE observation_evidence(
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  event_seq INTEGER NOT NULL REFERENCES events(seq) ON DELETE CASCADE,
  batch_id TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(observation_id, event_seq)
) WITHOUT ROWID;
CREATE INDEX observation_evidence_by_event ON observation_evidence(event_seq);
CREATE INDEX observation_evidence_by_batch ON observation_evidence(batch_id);

-- The files that an observation names. `blob` is the git blob of the file when the observation was made; empty until the
-- daemon has looked at the file, '-' when its content then is not known.
CREATE TABLE observation_files(
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  modified INTEGER NOT NULL,
  blob TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(observation_id, path, modified)
) WITHOUT ROWID;
CREATE INDEX observation_files_by_path ON observation_files(path);
CREATE INDEX observation_files_due ON observation_files(observation_id) WHERE blob = '';

CREATE TABLE observation_concepts(
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  concept TEXT NOT NULL,
  PRIMARY KEY(observation_id, concept)
) WITHOUT ROWID;
CREATE INDEX observation_concepts_by_concept ON observation_concepts(concept);

-- One row per (session, prompt number): first the built-in summary, later a model's in its place. `rules` is what the person
-- wants in general, as a model understood it; a JSON list.
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
  rules TEXT NOT NULL DEFAULT '[]',
  UNIQUE(memory_session_id, prompt_number)
);
CREATE INDEX summaries_by_project ON session_summaries(project, created_at_epoch) WHERE deleted_at IS NULL;
CREATE INDEX summaries_by_update ON session_summaries(project, updated_at_epoch) WHERE deleted_at IS NULL;

-- Which observations a person stored by hand, and who is given them: the sessions of its project, or of all projects.
-- done_at_epoch: since when nobody is given it any more.
CREATE TABLE notes(
  observation_id INTEGER PRIMARY KEY REFERENCES observations(id) ON DELETE CASCADE,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  for_all INTEGER NOT NULL DEFAULT 0,
  done_at_epoch INTEGER
);
CREATE INDEX notes_given ON notes(project, observation_id) WHERE done_at_epoch IS NULL;
CREATE INDEX notes_for_all ON notes(observation_id) WHERE for_all = 1 AND done_at_epoch IS NULL;

-- What a prompt ordered for good ("always", "never", "from now on"): a candidate for a note.
CREATE TABLE standing_orders(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL,
  text TEXT NOT NULL CHECK(text <> ''),
  said_at_epoch INTEGER NOT NULL,
  done_at_epoch INTEGER,
  UNIQUE(session_db_id, prompt_number, text)
);
CREATE INDEX standing_orders_by_project ON standing_orders(project, id) WHERE done_at_epoch IS NULL;

-- What is left to do: tasks of the host, next steps and closing questions of an answer, plans, interruptions, and what a
-- person added. One row for each, from when it was opened until something closed it; a closed row stays.
-- `key` finds it again: the host's number of a task, else the folded text. `detail` is the whole plan.
-- closed_session and closed_prompt name the turn that closed it, so that telling that turn again can decide anew.
CREATE TABLE open_items(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  branch TEXT,
  session_db_id INTEGER REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER,
  seen_prompt INTEGER NOT NULL DEFAULT 0,
  source TEXT NOT NULL CHECK(source IN ('task', 'next_step', 'question', 'plan', 'interruption', 'person')),
  state TEXT NOT NULL DEFAULT '',
  key TEXT NOT NULL,
  text TEXT NOT NULL CHECK(text <> ''),
  detail TEXT NOT NULL DEFAULT '',
  event_seq INTEGER REFERENCES events(seq) ON DELETE SET NULL,
  opened_at TEXT NOT NULL,
  opened_at_epoch INTEGER NOT NULL,
  last_seen_at_epoch INTEGER NOT NULL,
  closed_at TEXT,
  closed_at_epoch INTEGER,
  closed_by TEXT,
  closed_session INTEGER REFERENCES sdk_sessions(id) ON DELETE SET NULL,
  closed_prompt INTEGER,
  deleted_at TEXT,
  CHECK((closed_at_epoch IS NULL) = (closed_by IS NULL)),
  CHECK((source = 'person') = (session_db_id IS NULL))
);
CREATE INDEX open_items_open ON open_items(project, last_seen_at_epoch) WHERE closed_at_epoch IS NULL AND deleted_at IS NULL;
CREATE INDEX open_items_by_turn ON open_items(session_db_id, prompt_number);
CREATE INDEX open_items_closed_by ON open_items(closed_session, closed_prompt) WHERE closed_session IS NOT NULL;
CREATE INDEX open_items_by_key ON open_items(project, key) WHERE closed_at_epoch IS NOT NULL;
CREATE INDEX open_items_by_event ON open_items(event_seq) WHERE event_seq IS NOT NULL;

-- Files that a turn edited after its last commit. What was edited after last_commits is not committed, as far as the
-- events tell. `worktree` is empty for the main one.
CREATE TABLE uncommitted_edits(
  session_db_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL,
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  worktree TEXT NOT NULL,
  path TEXT NOT NULL,
  at_epoch INTEGER NOT NULL,
  PRIMARY KEY(session_db_id, prompt_number, path)
) WITHOUT ROWID;
CREATE INDEX uncommitted_edits_by_place ON uncommitted_edits(project, worktree, at_epoch);

-- When anybody last committed in a worktree.
CREATE TABLE last_commits(
  project TEXT NOT NULL REFERENCES projects(name) ON UPDATE CASCADE,
  worktree TEXT NOT NULL,
  at_epoch INTEGER NOT NULL,
  PRIMARY KEY(project, worktree)
) WITHOUT ROWID;

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

-- What sessions were given ------------------------------------------------------------------------------------------

-- Receipts: what was put before a session, and whether its hook confirmed that it printed it. `kind`: the context of a
-- session's start, or help that an event in the middle of work got.
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
  given_at_epoch INTEGER,
  kind TEXT NOT NULL DEFAULT 'context' CHECK(kind IN ('context', 'help')),
  saved_tokens INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX injections_by_session ON injections(session_db_id, id);
CREATE INDEX injections_by_event ON injections(event_id);
-- What the sessions of a project were given, the newest first.
CREATE INDEX injections_by_project ON injections(project, id);

-- Copies of transcripts ---------------------------------------------------------------------------------------------

-- A chain of versions: what was copied of one transcript while it only grew. A file that was rewritten starts
-- a new one.
CREATE TABLE backup_bases(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  agent TEXT NOT NULL DEFAULT '',
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL UNIQUE,
  is_redacted INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT '',
  UNIQUE(platform, content_session_id, agent, ordinal)
);

-- The files of a base below archive/, in order: NAME.ORDINAL.zst. `frames` lists each zstd frame of the file as
-- compressed:bytes:lines.
CREATE TABLE backup_segments(
  base_id INTEGER NOT NULL REFERENCES backup_bases(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  file_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  frames TEXT NOT NULL,
  PRIMARY KEY(base_id, ordinal)
) WITHOUT ROWID;

-- A verified version of a transcript: the first `segments` files of its base. `bytes` and `sha256` are of what is
-- stored, `source_bytes` and `source_sha256` of the host's file. `agent` is a subagent's id, empty for the
-- session itself.
CREATE TABLE backups(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  agent TEXT NOT NULL DEFAULT '',
  version INTEGER NOT NULL,
  base_id INTEGER NOT NULL REFERENCES backup_bases(id),
  segments INTEGER NOT NULL,
  project TEXT NOT NULL DEFAULT '',
  source_path TEXT NOT NULL,
  cause TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  source_bytes INTEGER NOT NULL,
  source_sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  lines INTEGER NOT NULL,
  malformed INTEGER NOT NULL DEFAULT 0,
  bad_line INTEGER,
  bad_column INTEGER,
  rewritten INTEGER NOT NULL DEFAULT 0,
  last_uuid TEXT NOT NULL DEFAULT '',
  last_record_at_epoch INTEGER,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  verified_at TEXT NOT NULL,
  verified_at_epoch INTEGER NOT NULL,
  UNIQUE(platform, content_session_id, agent, version)
);
CREATE INDEX backups_by_base ON backups(base_id, segments);
CREATE INDEX backups_by_time ON backups(created_at_epoch);
CREATE INDEX backups_by_project ON backups(project);

-- How a transcript looked when it was last read to its end: what looks the same is not read again.
CREATE TABLE backup_sources(
  path TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  read_at_epoch INTEGER NOT NULL
) WITHOUT ROWID;

-- Copies that hooks asked for and that are not made yet. `error` is why the last attempt failed.
CREATE TABLE backup_requests(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  source_path TEXT NOT NULL,
  cause TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  at_epoch INTEGER NOT NULL,
  not_before_epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT
);
CREATE INDEX backup_requests_failed ON backup_requests(id) WHERE error IS NOT NULL;

-- Up to which backup a session's lines were discarded: they are pending no more.
CREATE TABLE backup_discards(
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  backup_id INTEGER NOT NULL,
  at_epoch INTEGER NOT NULL,
  PRIMARY KEY(platform, content_session_id)
) WITHOUT ROWID;

-- Files below archive/ whose rows are gone and that are to be unlinked.
CREATE TABLE backup_removals(
  file TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Which lines of the archive the search index knows: each row is some consecutive lines of one turn. Their text stays
-- in the archive alone. prompt_id is the host's, of the prompt that the lines belong to.
CREATE TABLE passages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  base_id INTEGER NOT NULL REFERENCES backup_bases(id) ON DELETE CASCADE,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  at_epoch INTEGER NOT NULL,
  prompt_id TEXT NOT NULL,
  deleted_at TEXT,
  UNIQUE(base_id, first_line)
);

-- Up to which line each base is indexed, and what is needed to go on there.
CREATE TABLE passage_progress(
  base_id INTEGER PRIMARY KEY REFERENCES backup_bases(id) ON DELETE CASCADE,
  lines INTEGER NOT NULL,
  state TEXT NOT NULL
) WITHOUT ROWID;

-- Documents ---------------------------------------------------------------------------------------------------------

-- Documents that a person curated. The anchor says which part of the transcript they cover. behind_uuid, behind_at and
-- same_time find it by uuid or by instant alone: how many covered lines come after the one with that uuid, after the last
-- one with a time, and how many have that very time. `name`: what an imported document was called. `source`: person, agent,
-- draft or import. previous_name: the predecessor as it was named, where the row is gone or never was here. head_commit:
-- what was checked out.
CREATE TABLE session_documents(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT 'local',
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  branch TEXT,
  title TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'in-progress',
  tags TEXT NOT NULL DEFAULT '[]',
  body TEXT NOT NULL DEFAULT '',
  previous_id INTEGER REFERENCES session_documents(id) ON DELETE SET NULL,
  backup_id INTEGER REFERENCES backups(id) ON DELETE SET NULL,
  anchor_uuid TEXT NOT NULL DEFAULT '',
  anchor_lines INTEGER,
  anchor_sha256 TEXT NOT NULL DEFAULT '',
  anchor_at_epoch INTEGER,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  deleted_at TEXT,
  name TEXT NOT NULL DEFAULT '',
  source TEXT NOT NULL DEFAULT 'person',
  previous_name TEXT NOT NULL DEFAULT '',
  head_commit TEXT NOT NULL DEFAULT '',
  updated_at_epoch INTEGER,
  behind_uuid INTEGER,
  behind_at INTEGER,
  same_time INTEGER
);
CREATE INDEX documents_by_session ON session_documents(platform, content_session_id, id);
CREATE INDEX documents_by_project ON session_documents(project, id);
CREATE INDEX documents_by_previous ON session_documents(previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX documents_by_backup ON session_documents(backup_id) WHERE backup_id IS NOT NULL;
CREATE INDEX documents_by_time ON session_documents(project, created_at_epoch, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_name ON session_documents(name) WHERE name <> '';

-- What stood in a document before it was changed.
CREATE TABLE document_versions(
  document_id INTEGER NOT NULL REFERENCES session_documents(id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  tags TEXT NOT NULL,
  body TEXT NOT NULL,
  backup_id INTEGER REFERENCES backups(id) ON DELETE SET NULL,
  anchor_uuid TEXT NOT NULL,
  anchor_lines INTEGER,
  anchor_sha256 TEXT NOT NULL,
  anchor_at_epoch INTEGER,
  updated_at_epoch INTEGER,
  replaced_at_epoch INTEGER NOT NULL,
  behind_uuid INTEGER,
  behind_at INTEGER,
  same_time INTEGER,
  PRIMARY KEY(document_id, version)
) WITHOUT ROWID;
CREATE INDEX document_versions_by_backup ON document_versions(backup_id) WHERE backup_id IS NOT NULL;

-- Sessions whose document is to be written or brought up to date without being asked (automation = "auto").
CREATE TABLE document_jobs(
  session_db_id INTEGER PRIMARY KEY REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  cause TEXT NOT NULL CHECK(cause IN ('end', 'compaction')),
  not_before_epoch INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX document_jobs_due ON document_jobs(not_before_epoch);

-- What `cairn undo` can take back until it expires: `detail` is a JSON object of what was changed.
CREATE TABLE undo_log(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL,
  what TEXT NOT NULL,
  detail TEXT NOT NULL,
  at_epoch INTEGER NOT NULL,
  expires_at_epoch INTEGER NOT NULL,
  undone_at_epoch INTEGER
);
CREATE INDEX undo_log_by_project ON undo_log(project, id);

-- These rows name a project without a reference to it.
CREATE TRIGGER project_names_follow AFTER UPDATE OF name ON projects WHEN NEW.name <> OLD.name
BEGIN
  UPDATE session_documents SET project = NEW.name WHERE project = OLD.name;
  UPDATE backups SET project = NEW.name WHERE project = OLD.name;
  UPDATE undo_log SET project = NEW.name WHERE project = OLD.name;
END;

-- Imports -----------------------------------------------------------------------------------------------------------

-- Transcripts of sessions that ended before cairn was there, and what became of each.
CREATE TABLE imports(
  path TEXT PRIMARY KEY,
  platform TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('pending', 'reading', 'done', 'left_out')),
  reason TEXT,
  bytes INTEGER NOT NULL,
  modified_at_epoch INTEGER NOT NULL,
  found_at_epoch INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX imports_by_state ON imports(state, modified_at_epoch);

-- Memories of other tools that are being imported, or were. `position`: how far it is. `report`: what was imported, what
-- was known and what was left out, as JSON.
CREATE TABLE import_jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  path TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK(state IN ('pending', 'done', 'failed')),
  reason TEXT,
  position TEXT NOT NULL DEFAULT '',
  report TEXT NOT NULL DEFAULT '{}',
  started_at_epoch INTEGER NOT NULL,
  ended_at_epoch INTEGER
);
CREATE INDEX import_jobs_pending ON import_jobs(id) WHERE state = 'pending';

-- What a record was before it was imported: `key` is the same whenever it is imported, old_id is how the other tool
-- named it. `hash` is of its text then, for sources that change. A row stays when its record is forgotten, so that the
-- next import does not bring it back.
CREATE TABLE import_aliases(
  source TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  old_id TEXT NOT NULL,
  row_id INTEGER,
  hash TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(source, key)
) WITHOUT ROWID;
CREATE INDEX import_aliases_by_id ON import_aliases(source, old_id);
-- Who a record comes from is asked for each one that is shown.
CREATE INDEX import_aliases_by_row ON import_aliases(row_id, kind) WHERE row_id IS NOT NULL;

-- Forgetting --------------------------------------------------------------------------------------------------------

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

-- Keys of other homes whose tombstones came with an export. This home's own is derived from its key file: key_id 0.
CREATE TABLE tombstone_keys(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE
);

-- What was forgotten for good, as keyed hashes of normalised text (gate/forgotten.h). `text`: removed wherever it
-- occurs. `whole`: only a text that is all of it. `secret`: as text, found by its fingerprint. `session`: a session of
-- the host, whose events are refused. `record`: a record by its uuid, so that no export brings it back with words that it
-- had earlier.
CREATE TABLE tombstones(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_id INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL CHECK(kind IN ('text', 'whole', 'secret', 'session', 'record')),
  hash INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  forget_id INTEGER,
  at_epoch INTEGER NOT NULL,
  UNIQUE(key_id, kind, hash, length)
);

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

-- Search ------------------------------------------------------------------------------------------------------------

-- One index over all records, without a copy of their texts. The views below say what is indexed of each, the triggers keep
-- it in step whoever writes, also when rows go with their session. entry is the row's id times 8, plus a number for the
-- kind. scope holds one word for the project (hexadecimal: no tokenizer changes it, and it is equal only for equal names),
-- one for the kind, one for the type. A list that damage has made something else is indexed as empty: it must not keep its
-- row from being saved.
CREATE VIRTUAL TABLE memory_index USING fts5(
  scope, title, body, files, concepts, content = '', tokenize = 'porter cairn');
INSERT INTO memory_index(memory_index, rank) VALUES('secure-delete', 1);
-- A title says what a text is about; a file or a concept that is asked for by name says much as well.
INSERT INTO memory_index(memory_index, rank) VALUES('rank', 'bm25(0.0, 4.0, 1.0, 2.0, 2.0)');

CREATE VIEW indexed_observations AS SELECT id, id * 8 + 1 AS entry,
  'p' || lower(hex(project)) || ' kobservation t' || lower(type) AS scope,
  title || char(10) || coalesce(subtitle, '') AS title,
  coalesce(narrative, '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(facts), facts, '[]'))), '') AS body,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_modified), files_modified, '[]'))), '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_read), files_read, '[]'))), '') AS files,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(concepts), concepts, '[]'))), '') AS concepts
FROM observations WHERE deleted_at IS NULL AND same_as IS NULL;
CREATE TRIGGER observation_enters_index AFTER INSERT ON observations
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = NEW.id; END;
CREATE TRIGGER observation_leaves_index BEFORE DELETE ON observations
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = OLD.id; END;
CREATE TRIGGER observation_changes_in_index BEFORE UPDATE OF id,
  project, type, title, subtitle, narrative, facts, concepts, files_read, files_modified, deleted_at,
  same_as ON observations
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = OLD.id; END;
CREATE TRIGGER observation_changed_in_index AFTER UPDATE OF id,
  project, type, title, subtitle, narrative, facts, concepts, files_read, files_modified, deleted_at,
  same_as ON observations
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_observations WHERE id = NEW.id; END;

CREATE VIEW indexed_summaries AS SELECT id, id * 8 + 2 AS entry,
  'p' || lower(hex(project)) || ' ksummary' AS scope,
  request AS title,
  investigated || char(10) || learned || char(10) || completed || char(10) || next_steps || char(10) || notes AS body,
  coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_edited), files_edited, '[]'))), '') || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(iif(json_valid(files_read), files_read, '[]'))), '') AS files,
  '' AS concepts
FROM session_summaries WHERE deleted_at IS NULL;
CREATE TRIGGER summary_enters_index AFTER INSERT ON session_summaries
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = NEW.id; END;
CREATE TRIGGER summary_leaves_index BEFORE DELETE ON session_summaries
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = OLD.id; END;
CREATE TRIGGER summary_changes_in_index BEFORE UPDATE OF id,
  project, request, investigated, learned, completed, next_steps, notes, files_read, files_edited, deleted_at ON session_summaries
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = OLD.id; END;
CREATE TRIGGER summary_changed_in_index AFTER UPDATE OF id,
  project, request, investigated, learned, completed, next_steps, notes, files_read, files_edited, deleted_at ON session_summaries
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_summaries WHERE id = NEW.id; END;

CREATE VIEW indexed_prompts AS SELECT id, id * 8 + 3 AS entry,
  'p' || lower(hex(project)) || ' kprompt' AS scope, '' AS title, prompt_text AS body, '' AS files, '' AS concepts
FROM user_prompts WHERE deleted_at IS NULL;
CREATE TRIGGER prompt_enters_index AFTER INSERT ON user_prompts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = NEW.id; END;
CREATE TRIGGER prompt_leaves_index BEFORE DELETE ON user_prompts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = OLD.id; END;
CREATE TRIGGER prompt_changes_in_index BEFORE UPDATE OF id,
  project, prompt_text, deleted_at ON user_prompts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = OLD.id; END;
CREATE TRIGGER prompt_changed_in_index AFTER UPDATE OF id,
  project, prompt_text, deleted_at ON user_prompts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_prompts WHERE id = NEW.id; END;

CREATE VIEW indexed_texts AS SELECT id, id * 8 + 4 AS entry,
  'p' || lower(hex(project)) || ' kturn' AS scope, '' AS title, text AS body, '' AS files, '' AS concepts
FROM texts WHERE deleted_at IS NULL AND kind <> 'title';
CREATE TRIGGER text_enters_index AFTER INSERT ON texts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = NEW.id; END;
CREATE TRIGGER text_leaves_index BEFORE DELETE ON texts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = OLD.id; END;
CREATE TRIGGER text_changes_in_index BEFORE UPDATE OF id, project, kind, text, deleted_at ON texts
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = OLD.id; END;
CREATE TRIGGER text_changed_in_index AFTER UPDATE OF id, project, kind, text, deleted_at ON texts
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_texts WHERE id = NEW.id; END;

CREATE VIEW indexed_open_items AS SELECT id, id * 8 + 6 AS entry,
  'p' || lower(hex(project)) || ' kopen' AS scope, text AS title, detail AS body, '' AS files, '' AS concepts
FROM open_items WHERE deleted_at IS NULL;
CREATE TRIGGER open_item_enters_index AFTER INSERT ON open_items
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = NEW.id; END;
CREATE TRIGGER open_item_leaves_index BEFORE DELETE ON open_items
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = OLD.id; END;
CREATE TRIGGER open_item_changes_in_index BEFORE UPDATE OF id, project, text, detail, deleted_at ON open_items
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = OLD.id; END;
CREATE TRIGGER open_item_changed_in_index AFTER UPDATE OF id, project, text, detail, deleted_at ON open_items
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_open_items WHERE id = NEW.id; END;

CREATE VIEW indexed_documents AS SELECT id, id * 8 + 7 AS entry,
  'p' || lower(hex(project)) || ' kdocument' AS scope, title, body, '' AS files, tags AS concepts
FROM session_documents WHERE deleted_at IS NULL;
CREATE TRIGGER document_enters_index AFTER INSERT ON session_documents
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = NEW.id; END;
CREATE TRIGGER document_leaves_index BEFORE DELETE ON session_documents
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = OLD.id; END;
CREATE TRIGGER document_changes_in_index BEFORE UPDATE OF id, project, title, body, tags, deleted_at ON session_documents
BEGIN INSERT INTO memory_index(memory_index, rowid, scope, title, body, files, concepts)
  SELECT 'delete', entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = OLD.id; END;
CREATE TRIGGER document_changed_in_index AFTER UPDATE OF id, project, title, body, tags, deleted_at ON session_documents
BEGIN INSERT INTO memory_index(rowid, scope, title, body, files, concepts)
  SELECT entry, scope, title, body, files, concepts FROM indexed_documents WHERE id = NEW.id; END;

-- The words of passages. Apart from memory_index, so that the many words of tools do not change how rare a word is among
-- records.
CREATE VIRTUAL TABLE passage_index USING fts5(
  body, content = '', contentless_delete = 1, tokenize = 'porter cairn');
CREATE TRIGGER passage_leaves_index AFTER DELETE ON passages
BEGIN DELETE FROM passage_index WHERE rowid = OLD.id; END;

-- The words of tool calls: of what a tool was given, and of the beginning and the end of what it gave. rowid is
-- events.seq. The text is in the evidence alone. The daemon adds calls in steps; `indexed` is 0 for those that wait.
CREATE VIRTUAL TABLE event_index USING fts5(
  input, output, content = '', contentless_delete = 1, tokenize = 'porter cairn');
-- Fewer and larger merges: a call is written to the index half as often, and a search reads a few segments more.
INSERT INTO event_index(event_index, rank) VALUES('automerge', 8);
CREATE TRIGGER evidence_leaves_index AFTER DELETE ON evidence WHEN OLD.indexed = 1
BEGIN DELETE FROM event_index WHERE rowid = OLD.event_seq; END;

-- A rebuild of the search index that is under way: up to which id of each view the new one has its records.
CREATE TABLE index_rebuild(
  name TEXT PRIMARY KEY,
  up_to INTEGER NOT NULL
) WITHOUT ROWID;

-- Counts ------------------------------------------------------------------------------------------------------------

-- Counts that `status`, `stats` and `projects list` show, kept by the triggers below whoever writes: a list must not
-- read every row. name is the status, the type, the day: what the count is split by.
CREATE TABLE tallies(
  what TEXT NOT NULL,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY(what, project, name)
) WITHOUT ROWID;
-- A name that nothing has any more is forgotten.
CREATE TRIGGER tally_is_gone AFTER UPDATE OF count ON tallies WHEN NEW.count = 0
BEGIN DELETE FROM tallies WHERE what = NEW.what AND project = NEW.project AND name = NEW.name; END;
CREATE TRIGGER session_is_counted AFTER INSERT ON sdk_sessions WHEN NEW.hidden = 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('session', NEW.project, NEW.status, 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER session_is_gone AFTER DELETE ON sdk_sessions WHEN OLD.hidden = 0
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'session' AND project = OLD.project AND name = OLD.status; END;
CREATE TRIGGER session_was_counted AFTER UPDATE OF project, status, hidden ON sdk_sessions WHEN OLD.hidden = 0
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'session' AND project = OLD.project AND name = OLD.status; END;
CREATE TRIGGER session_is_counted_again AFTER UPDATE OF project, status, hidden ON sdk_sessions WHEN NEW.hidden = 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('session', NEW.project, NEW.status, 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER session_host_is_counted AFTER INSERT ON sdk_sessions WHEN NEW.hidden = 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('host', NEW.project, NEW.platform, 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER session_host_is_gone AFTER DELETE ON sdk_sessions WHEN OLD.hidden = 0
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'host' AND project = OLD.project AND name = OLD.platform; END;
CREATE TRIGGER session_host_was_counted AFTER UPDATE OF project, hidden ON sdk_sessions WHEN OLD.hidden = 0
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'host' AND project = OLD.project AND name = OLD.platform; END;
CREATE TRIGGER session_host_is_counted_again AFTER UPDATE OF project, hidden ON sdk_sessions WHEN NEW.hidden = 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('host', NEW.project, NEW.platform, 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER prompt_is_counted AFTER INSERT ON user_prompts WHEN NEW.deleted_at IS NULL
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('prompt', NEW.project, substr(NEW.created_at, 1, 10), 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER prompt_is_gone AFTER DELETE ON user_prompts WHEN OLD.deleted_at IS NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'prompt' AND project = OLD.project AND name = substr(OLD.created_at, 1, 10); END;
CREATE TRIGGER prompt_was_counted AFTER UPDATE OF project, created_at, deleted_at ON user_prompts WHEN OLD.deleted_at IS NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'prompt' AND project = OLD.project AND name = substr(OLD.created_at, 1, 10); END;
CREATE TRIGGER prompt_is_counted_again AFTER UPDATE OF project, created_at, deleted_at ON user_prompts WHEN NEW.deleted_at IS NULL
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('prompt', NEW.project, substr(NEW.created_at, 1, 10), 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER summary_is_counted AFTER INSERT ON session_summaries WHEN NEW.deleted_at IS NULL
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('summary', NEW.project, '', 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER summary_is_gone AFTER DELETE ON session_summaries WHEN OLD.deleted_at IS NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'summary' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER summary_was_counted AFTER UPDATE OF project, deleted_at ON session_summaries WHEN OLD.deleted_at IS NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'summary' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER summary_is_counted_again AFTER UPDATE OF project, deleted_at ON session_summaries WHEN NEW.deleted_at IS NULL
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('summary', NEW.project, '', 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER work_is_counted AFTER INSERT ON session_summaries WHEN NEW.deleted_at IS NULL AND NEW.discovery_tokens <> 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('work_tokens', NEW.project, '', NEW.discovery_tokens)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER work_is_gone AFTER DELETE ON session_summaries WHEN OLD.deleted_at IS NULL AND OLD.discovery_tokens <> 0
BEGIN UPDATE tallies SET count = count - OLD.discovery_tokens WHERE what = 'work_tokens' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER work_was_counted AFTER UPDATE OF project, deleted_at, discovery_tokens ON session_summaries WHEN OLD.deleted_at IS NULL AND OLD.discovery_tokens <> 0
BEGIN UPDATE tallies SET count = count - OLD.discovery_tokens WHERE what = 'work_tokens' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER work_is_counted_again AFTER UPDATE OF project, deleted_at, discovery_tokens ON session_summaries WHEN NEW.deleted_at IS NULL AND NEW.discovery_tokens <> 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('work_tokens', NEW.project, '', NEW.discovery_tokens)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER observation_is_counted AFTER INSERT ON observations WHEN NEW.deleted_at IS NULL
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('observation', NEW.project, NEW.type, 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER observation_is_gone AFTER DELETE ON observations WHEN OLD.deleted_at IS NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'observation' AND project = OLD.project AND name = OLD.type; END;
CREATE TRIGGER observation_was_counted AFTER UPDATE OF project, type, deleted_at ON observations WHEN OLD.deleted_at IS NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'observation' AND project = OLD.project AND name = OLD.type; END;
CREATE TRIGGER observation_is_counted_again AFTER UPDATE OF project, type, deleted_at ON observations WHEN NEW.deleted_at IS NULL
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('observation', NEW.project, NEW.type, 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER context_is_counted AFTER INSERT ON injections WHEN NEW.given_at_epoch IS NOT NULL AND NEW.tokens > 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('given', NEW.project, '', 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER context_is_gone AFTER DELETE ON injections WHEN OLD.given_at_epoch IS NOT NULL AND OLD.tokens > 0
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'given' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER context_was_counted AFTER UPDATE OF project, given_at_epoch ON injections WHEN OLD.given_at_epoch IS NOT NULL AND OLD.tokens > 0
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'given' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER context_is_counted_again AFTER UPDATE OF project, given_at_epoch ON injections WHEN NEW.given_at_epoch IS NOT NULL AND NEW.tokens > 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('given', NEW.project, '', 1)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER context_tokens_is_counted AFTER INSERT ON injections WHEN NEW.given_at_epoch IS NOT NULL AND NEW.tokens > 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('tokens_given', NEW.project, '', NEW.tokens)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER context_tokens_is_gone AFTER DELETE ON injections WHEN OLD.given_at_epoch IS NOT NULL AND OLD.tokens > 0
BEGIN UPDATE tallies SET count = count - OLD.tokens WHERE what = 'tokens_given' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER context_tokens_was_counted AFTER UPDATE OF project, given_at_epoch ON injections WHEN OLD.given_at_epoch IS NOT NULL AND OLD.tokens > 0
BEGIN UPDATE tallies SET count = count - OLD.tokens WHERE what = 'tokens_given' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER context_tokens_is_counted_again AFTER UPDATE OF project, given_at_epoch ON injections WHEN NEW.given_at_epoch IS NOT NULL AND NEW.tokens > 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('tokens_given', NEW.project, '', NEW.tokens)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER saved_is_counted AFTER INSERT ON injections WHEN NEW.saved_tokens <> 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('saved_tokens', NEW.project, '', NEW.saved_tokens)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER saved_is_gone AFTER DELETE ON injections WHEN OLD.saved_tokens <> 0
BEGIN UPDATE tallies SET count = count - OLD.saved_tokens WHERE what = 'saved_tokens' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER saved_was_counted AFTER UPDATE OF project, saved_tokens ON injections WHEN OLD.saved_tokens <> 0
BEGIN UPDATE tallies SET count = count - OLD.saved_tokens WHERE what = 'saved_tokens' AND project = OLD.project AND name = ''; END;
CREATE TRIGGER saved_is_counted_again AFTER UPDATE OF project, saved_tokens ON injections WHEN NEW.saved_tokens <> 0
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('saved_tokens', NEW.project, '', NEW.saved_tokens)
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
-- Tool calls have the project of their session. When that is deleted it is gone before its events are.
CREATE TRIGGER call_is_counted AFTER INSERT ON events WHEN NEW.outcome = 'stored' AND NEW.kind IN ('tool', 'tool_failure') AND NEW.tool_name IS NOT NULL
BEGIN INSERT INTO tallies(what, project, name, count)
  SELECT 'tool', project, NEW.tool_name, 1 FROM sdk_sessions WHERE id = NEW.session_db_id
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER call_is_gone AFTER DELETE ON events WHEN OLD.outcome = 'stored' AND OLD.kind IN ('tool', 'tool_failure') AND OLD.tool_name IS NOT NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'tool' AND name = OLD.tool_name AND
  project = (SELECT project FROM sdk_sessions WHERE id = OLD.session_db_id); END;
CREATE TRIGGER call_was_counted AFTER UPDATE OF outcome, kind, tool_name, session_db_id ON events WHEN OLD.outcome = 'stored' AND OLD.kind IN ('tool', 'tool_failure') AND OLD.tool_name IS NOT NULL
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'tool' AND name = OLD.tool_name AND
  project = (SELECT project FROM sdk_sessions WHERE id = OLD.session_db_id); END;
CREATE TRIGGER call_is_counted_again AFTER UPDATE OF outcome, kind, tool_name, session_db_id ON events WHEN NEW.outcome = 'stored' AND NEW.kind IN ('tool', 'tool_failure') AND NEW.tool_name IS NOT NULL
BEGIN INSERT INTO tallies(what, project, name, count)
  SELECT 'tool', project, NEW.tool_name, 1 FROM sdk_sessions WHERE id = NEW.session_db_id
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER session_takes_calls_away BEFORE DELETE ON sdk_sessions
BEGIN INSERT INTO tallies(what, project, name, count)
  SELECT 'tool', OLD.project, e.tool_name, -count(*) FROM events e WHERE e.session_db_id = OLD.id AND
    e.outcome = 'stored' AND e.kind IN ('tool', 'tool_failure') AND e.tool_name IS NOT NULL GROUP BY e.tool_name
  ON CONFLICT DO UPDATE SET count = count + excluded.count; END;
CREATE TRIGGER session_moves_calls AFTER UPDATE OF project ON sdk_sessions WHEN NEW.project <> OLD.project
BEGIN
  INSERT INTO tallies(what, project, name, count)
  SELECT 'tool', OLD.project, e.tool_name, -count(*) FROM events e WHERE e.session_db_id = NEW.id AND
    e.outcome = 'stored' AND e.kind IN ('tool', 'tool_failure') AND e.tool_name IS NOT NULL GROUP BY e.tool_name
  ON CONFLICT DO UPDATE SET count = count + excluded.count;
  INSERT INTO tallies(what, project, name, count)
  SELECT 'tool', NEW.project, e.tool_name, count(*) FROM events e WHERE e.session_db_id = NEW.id AND
    e.outcome = 'stored' AND e.kind IN ('tool', 'tool_failure') AND e.tool_name IS NOT NULL GROUP BY e.tool_name
  ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
-- All events, by where they came from; these belong to no project.
CREATE TRIGGER event_is_counted AFTER INSERT ON events
BEGIN INSERT INTO tallies(what, project, name, count) VALUES('event', '', NEW.source, 1)
  ON CONFLICT DO UPDATE SET count = count + 1; END;
CREATE TRIGGER event_is_gone AFTER DELETE ON events
BEGIN UPDATE tallies SET count = count - 1 WHERE what = 'event' AND project = '' AND name = OLD.source; END;
