#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kChangedTurns = R"sql(
-- Whether the turn got an event since it was last summarised; whether the session has such a turn.
ALTER TABLE turns ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sdk_sessions ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET changed = 1 WHERE ended_at_epoch IS NULL;
UPDATE sdk_sessions SET changed = 1 WHERE id IN (SELECT session_db_id FROM turns WHERE changed = 1);
CREATE INDEX turns_changed ON turns(session_db_id, prompt_number) WHERE changed = 1;
CREATE INDEX turns_changed_late ON turns(session_db_id, prompt_number)
  WHERE changed = 1 AND ended_at_epoch IS NOT NULL;
CREATE INDEX turns_open_of_session ON turns(session_db_id, prompt_number) WHERE ended_at_epoch IS NULL;
CREATE INDEX sessions_changed ON sdk_sessions(project, last_event_at_epoch) WHERE changed = 1;
CREATE INDEX sessions_active_by_project ON sdk_sessions(project, last_event_at_epoch) WHERE status = 'active';
)sql";

const std::string_view kReadyMessages = R"sql(
-- Whether the message may be claimed: its turn has ended. Kept here, so that a claim finds such messages in an
-- index however many wait for the end of their turn.
ALTER TABLE pending_messages ADD COLUMN ready INTEGER NOT NULL DEFAULT 1;
UPDATE pending_messages SET ready = 0 WHERE EXISTS (SELECT 1 FROM turns t WHERE
  t.session_db_id = pending_messages.session_db_id AND t.prompt_number = pending_messages.prompt_number AND
  t.ended_at_epoch IS NULL);
CREATE INDEX queue_ready ON pending_messages(session_db_id, id) WHERE status = 'pending' AND ready = 1;
CREATE TRIGGER turn_ends_for_queue AFTER UPDATE OF ended_at_epoch ON turns
WHEN (OLD.ended_at_epoch IS NULL) <> (NEW.ended_at_epoch IS NULL)
BEGIN UPDATE pending_messages SET ready = NEW.ended_at_epoch IS NOT NULL
  WHERE session_db_id = NEW.session_db_id AND prompt_number = NEW.prompt_number AND status <> 'processed'; END;
CREATE TRIGGER turn_leaves_queue AFTER DELETE ON turns WHEN OLD.ended_at_epoch IS NULL
BEGIN UPDATE pending_messages SET ready = 1
  WHERE session_db_id = OLD.session_db_id AND prompt_number = OLD.prompt_number AND status <> 'processed'; END;
)sql";

}  // namespace cairn::store
