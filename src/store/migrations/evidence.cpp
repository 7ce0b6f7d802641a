#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kTextsAtOnce = R"sql(
-- The texts of events are evidence from the beginning. Rows of the queue had them until their turn had ended; their
-- columns for texts stay empty from now on. evidence.indexed is 3 while the message waits in the queue.
INSERT OR IGNORE INTO payloads(hash, bytes, body)
  SELECT cairn_payload_key(session_db_id, text), length(CAST(text AS BLOB)), cairn_pack(text) FROM (
    SELECT session_db_id, tool_input AS text FROM pending_messages
    UNION ALL SELECT session_db_id, tool_response FROM pending_messages
    UNION ALL SELECT session_db_id, extra FROM pending_messages) WHERE text IS NOT NULL;
INSERT INTO evidence(event_seq, session_db_id, input_payload, response_payload, extra_payload, created_at_epoch, indexed)
  SELECT event_seq, session_db_id,
    (SELECT id FROM payloads WHERE hash = cairn_payload_key(m.session_db_id, m.tool_input)),
    (SELECT id FROM payloads WHERE hash = cairn_payload_key(m.session_db_id, m.tool_response)),
    (SELECT id FROM payloads WHERE hash = cairn_payload_key(m.session_db_id, m.extra)),
    created_at_epoch, 3
  FROM pending_messages m WHERE status <> 'processed' AND
    NOT EXISTS (SELECT 1 FROM evidence v WHERE v.event_seq = m.event_seq);
UPDATE pending_messages SET tool_input = NULL, tool_response = NULL, extra = NULL
  WHERE tool_input IS NOT NULL OR tool_response IS NOT NULL OR extra IS NOT NULL;

-- Fewer and larger merges: a call is written to the index half as often, and a search reads a few segments more.
INSERT INTO event_index(event_index, rank) VALUES('automerge', 8);

-- Every event asks whether the session's first prompt was deleted.
CREATE INDEX prompts_deleted ON user_prompts(session_db_id) WHERE deleted_at IS NOT NULL;
)sql";

}  // namespace cairn::store
