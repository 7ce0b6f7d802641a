#include "store/migrations/migrations.h"

namespace cairn::store {

const std::string_view kPassages = R"sql(
-- Which lines of the archive the search index knows: each row is some consecutive lines of one turn. Their text stays
-- in the archive alone. prompt_id is the host's, of the prompt that the lines belong to.
CREATE TABLE passages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  base_id INTEGER NOT NULL REFERENCES backup_bases(id) ON DELETE CASCADE,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  at_epoch INTEGER NOT NULL,
  prompt_id TEXT NOT NULL,
  UNIQUE(base_id, first_line)
);
-- Apart from memory_index, so that the many words of tools do not change how rare a word is among records.
CREATE VIRTUAL TABLE passage_index USING fts5(
  body, content = '', contentless_delete = 1, tokenize = 'porter cairn');
CREATE TRIGGER passage_leaves_index AFTER DELETE ON passages
BEGIN DELETE FROM passage_index WHERE rowid = OLD.id; END;

-- Up to which line each base is indexed, and what is needed to go on there.
CREATE TABLE passage_progress(
  base_id INTEGER PRIMARY KEY REFERENCES backup_bases(id) ON DELETE CASCADE,
  lines INTEGER NOT NULL,
  state TEXT NOT NULL
) WITHOUT ROWID;
)sql";

}  // namespace cairn::store
