#include "store/receipts.h"

#include "store/rows.h"

namespace cairn::store {

Result<std::int64_t> add_receipt(Db& db, const Receipt& r) {
  TRY(db.run(
      "INSERT INTO injections(event_id, session_db_id, project, event_name, source, tokens, characters, "
      "text_hash, items, up_to_epoch, created_at, created_at_epoch, kind) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
      r.event.value, r.session.value, r.project, r.event_name, r.source, r.tokens, r.characters, r.text_hash,
      r.items, epoch_ms(r.up_to), iso8601(r.created_at), epoch_ms(r.created_at), r.kind));
  return db.last_insert_rowid();
}

// saved_tokens: what the project's last turn took to read, minus the context. An empty context saves nothing.
// A second confirmation changes nothing.
Status confirm_receipt(Db& db, std::int64_t id, WallTime at) {
  return db.run(
      "UPDATE injections SET given_at_epoch = ?1, saved_tokens = iif(tokens > 0, max(0, coalesce((SELECT "
      "u.discovery_tokens FROM session_summaries u WHERE u.project = injections.project AND u.deleted_at IS "
      "NULL AND u.created_at_epoch <= ?1 ORDER BY u.created_at_epoch DESC LIMIT 1), 0) - tokens), 0) WHERE "
      "id = ?2 AND given_at_epoch IS NULL",
      epoch_ms(at), id);
}

#define RECEIPTS                                                                                        \
  "SELECT i.id, i.event_id, i.session_db_id, s.content_session_id, i.project, i.event_name, i.source, " \
  "i.tokens, i.characters, i.text_hash, i.items, i.up_to_epoch, i.created_at_epoch, i.given_at_epoch, " \
  "i.kind FROM "                                                                                        \
  "injections i JOIN sdk_sessions s ON s.id = i.session_db_id "

static Receipt read_receipt(Stmt& row) {
  Receipt r;
  read_columns(row, r.id, r.event, r.session, r.content_session, r.project, r.event_name, r.source, r.tokens,
               r.characters, r.text_hash, r.items, r.up_to, r.created_at, r.given_at, r.kind);
  return r;
}

Result<std::optional<Receipt>> last_given(Db& db, SessionId session) {
  return first(db.query(RECEIPTS "WHERE i.session_db_id = ? AND i.given_at_epoch IS NOT NULL AND i.kind = "
                                 "'context' ORDER BY i.id DESC LIMIT 1",
                        session.value),
               read_receipt);
}

Result<bool> was_given(Db& db, SessionId session, const EventId& event) {
  return TRY(db.integer("SELECT 1 FROM injections WHERE session_db_id = ? AND event_id = ? AND "
                        "given_at_epoch IS NOT NULL",
                        session, event))
      .has_value();
}

Result<std::vector<Receipt>> list_receipts(Db& db, const std::optional<std::string>& project,
                                           std::int64_t limit) {
  if (!project) return all(db.query(RECEIPTS "ORDER BY i.id DESC LIMIT ?", limit), read_receipt);
  return all(db.query(RECEIPTS "WHERE i.project IN (SELECT member FROM project_scope WHERE project = ?) "
                               "ORDER BY i.id DESC LIMIT ?",
                      *project, limit),
             read_receipt);
}

}  // namespace cairn::store
