#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kTallies = R"sql(
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

-- What lists are sorted by.
CREATE INDEX sessions_by_last_event ON sdk_sessions(last_event_at_epoch, id);

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
)sql";

const std::string_view kCountTallies = R"sql(
DELETE FROM tallies;
INSERT INTO tallies SELECT 'session', project, status, count(*) FROM sdk_sessions WHERE hidden = 0 GROUP BY 2, 3;
INSERT INTO tallies SELECT 'host', project, platform, count(*) FROM sdk_sessions WHERE hidden = 0 GROUP BY 2, 3;
INSERT INTO tallies SELECT 'prompt', project, substr(created_at, 1, 10), count(*) FROM user_prompts
  WHERE deleted_at IS NULL GROUP BY 2, 3;
INSERT INTO tallies SELECT 'summary', project, '', count(*) FROM session_summaries WHERE deleted_at IS NULL GROUP BY 2;
INSERT INTO tallies SELECT 'work_tokens', project, '', sum(discovery_tokens) FROM session_summaries
  WHERE deleted_at IS NULL GROUP BY 2;
INSERT INTO tallies SELECT 'observation', project, type, count(*) FROM observations WHERE deleted_at IS NULL
  GROUP BY 2, 3;
INSERT INTO tallies SELECT 'given', project, '', count(*) FROM injections
  WHERE given_at_epoch IS NOT NULL AND tokens > 0 GROUP BY 2;
INSERT INTO tallies SELECT 'tokens_given', project, '', sum(tokens) FROM injections
  WHERE given_at_epoch IS NOT NULL AND tokens > 0 GROUP BY 2;
INSERT INTO tallies SELECT 'tool', s.project, e.tool_name, count(*) FROM events e JOIN sdk_sessions s ON
  s.id = e.session_db_id WHERE e.outcome = 'stored' AND e.kind IN ('tool', 'tool_failure') AND e.tool_name IS NOT NULL GROUP BY 2, 3;
INSERT INTO tallies SELECT 'event', '', source, count(*) FROM events GROUP BY 3;
)sql";

const std::string_view kSavedTokens = R"sql(
-- What the turn before had beyond this context's tokens, known when the context is given.
ALTER TABLE injections ADD COLUMN saved_tokens INTEGER NOT NULL DEFAULT 0;
UPDATE injections SET saved_tokens = max(0, coalesce((SELECT u.discovery_tokens FROM session_summaries u
  WHERE u.project = injections.project AND u.deleted_at IS NULL AND u.created_at_epoch <= given_at_epoch
  ORDER BY u.created_at_epoch DESC LIMIT 1), 0) - tokens) WHERE given_at_epoch IS NOT NULL AND tokens > 0;
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
)sql";

const std::string_view kCountSavedTokens = R"sql(
INSERT INTO tallies SELECT 'saved_tokens', project, '', sum(saved_tokens) FROM injections WHERE saved_tokens <> 0
  GROUP BY 2;
)sql";

}  // namespace cairn::store
