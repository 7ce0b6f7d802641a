#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kExchange = R"sql(
-- Keys of other homes whose tombstones came with an export. This home's own is derived from its key file: key_id 0.
CREATE TABLE tombstone_keys(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE
);
-- `record`: a record by its uuid, so that no export brings it back with words that it had earlier.
CREATE TABLE new_tombstones(
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
INSERT INTO new_tombstones(id, kind, hash, start, length, forget_id, at_epoch)
  SELECT id, kind, hash, start, length, forget_id, at_epoch FROM tombstones;
DROP TABLE tombstones;
ALTER TABLE new_tombstones RENAME TO tombstones;
-- Who a record comes from is asked for each one that is shown.
CREATE INDEX import_aliases_by_row ON import_aliases(row_id, kind) WHERE row_id IS NOT NULL;
)sql";

}  // namespace cairn::store
