#include "store/receipts.h"

namespace cairn::store {

Result<std::int64_t> add_receipt(Db& db, const Receipt& r) {
  TRY(
      db.run("INSERT INTO injections(event_id, session_db_id, project, event_name, source, tokens, "
             "characters, text_hash, items, "
             "up_to_epoch, created_at, created_at_epoch) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
             r.event.value, r.session.value, r.project, r.event_name, r.source, r.tokens, r.characters,
             r.text_hash, r.items, epoch_ms(r.up_to), iso8601(r.created_at), epoch_ms(r.created_at)));
  return db.last_insert_rowid();
}

Status confirm_receipt(Db& db, std::int64_t id, WallTime at) {
  return db.run("UPDATE injections SET given_at_epoch = ? WHERE id = ? AND given_at_epoch IS NULL",
                epoch_ms(at), id);
}

#define RECEIPTS                                                                                            \
  "SELECT id, event_id, session_db_id, project, event_name, source, tokens, characters, text_hash, items, " \
  "up_to_epoch, "                                                                                           \
  "created_at_epoch, given_at_epoch FROM injections "

static Receipt read_receipt(Stmt& row) {
  Receipt r;
  r.id = row.integer(0);
  r.event = EventId{row.text(1)};
  r.session = SessionId{row.integer(2)};
  r.project = row.text(3);
  r.event_name = row.text(4);
  r.source = row.text(5);
  r.tokens = row.integer(6);
  r.characters = row.integer(7);
  r.text_hash = row.text(8);
  r.items = row.text(9);
  r.up_to = from_epoch_ms(row.integer(10));
  r.created_at = from_epoch_ms(row.integer(11));
  if (!row.is_null(12)) r.given_at = from_epoch_ms(row.integer(12));
  return r;
}

Result<std::optional<Receipt>> last_given(Db& db, SessionId session) {
  return first(
      db.query(RECEIPTS "WHERE session_db_id = ? AND given_at_epoch IS NOT NULL ORDER BY id DESC LIMIT 1",
               session.value),
      read_receipt);
}

}  // namespace cairn::store
