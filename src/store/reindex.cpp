#include "store/reindex.h"

#include <array>
#include <string>
#include <string_view>

#include "store/passages.h"

namespace cairn::store {

namespace {

struct IndexedTable {
  std::string_view table, view;
};
// What the index is made of.
constexpr std::array kIndexed = {IndexedTable{"observations", "indexed_observations"},
                                 IndexedTable{"session_summaries", "indexed_summaries"},
                                 IndexedTable{"user_prompts", "indexed_prompts"},
                                 IndexedTable{"texts", "indexed_texts"},
                                 IndexedTable{"open_items", "indexed_open_items"},
                                 IndexedTable{"session_documents", "indexed_documents"}};

// The same definition as that of memory_index in schema.sql.
constexpr std::string_view kNew =
    "CREATE VIRTUAL TABLE memory_index_next USING fts5(scope, title, body, files, concepts, content = '', "
    "tokenize = 'porter cairn');"
    "INSERT INTO memory_index_next(memory_index_next, rank) VALUES('secure-delete', 1);"
    "INSERT INTO memory_index_next(memory_index_next, rank) VALUES('rank', 'bm25(0.0, 4.0, 1.0, 2.0, 2.0)');";

// Triggers that repeat in the new index the changes of records that it already has. Later records need none:
// the rebuild reads them as they are when it gets there.
std::string triggers_of(const IndexedTable& each) {
  const std::string table(each.table), view(each.view);
  const auto read = [&](const std::string& row) {
    return " entry, scope, title, body, files, concepts FROM " + view + " WHERE id = " + row +
           ".id AND id <= (SELECT up_to FROM index_rebuild WHERE name = '" + view + "'); END;";
  };
  const std::string remove =
      "BEGIN INSERT INTO memory_index_next(memory_index_next, rowid, scope, title, body, files, concepts) "
      "SELECT 'delete'," +
      read("OLD");
  return "CREATE TRIGGER rebuild_" + table + "_gone BEFORE DELETE ON " + table + " " + remove +
         "CREATE TRIGGER rebuild_" + table + "_before BEFORE UPDATE ON " + table + " " + remove +
         "CREATE TRIGGER rebuild_" + table + "_after AFTER UPDATE ON " + table +
         " BEGIN INSERT INTO memory_index_next(rowid, scope, title, body, files, concepts) SELECT" +
         read("NEW");
}

std::string drop_triggers(const IndexedTable& each) {
  const std::string start = "DROP TRIGGER rebuild_" + std::string(each.table);
  return start + "_gone;" + start + "_before;" + start + "_after;";
}

// Without legacy_alter_table, renaming would check and rewrite the triggers that name the old table.
Status replace_index(Db& db) {
  std::string sql;
  for (const IndexedTable& each : kIndexed) sql += drop_triggers(each);
  TRY(db.exec(sql + "DROP TABLE memory_index;"));
  TRY(db.exec("PRAGMA legacy_alter_table = ON"));
  auto renamed = db.exec("ALTER TABLE memory_index_next RENAME TO memory_index");
  TRY(db.exec("PRAGMA legacy_alter_table = OFF"));
  TRY(std::move(renamed));
  TRY(db.run("DELETE FROM index_rebuild"));
  // Tool calls and passages are indexed again one by one, newest first. Their old entries go at once: an
  // entry that is inserted twice cannot be deleted any more.
  TRY(db.run("INSERT INTO event_index(event_index) VALUES('delete-all')"));
  TRY(db.run("UPDATE evidence SET indexed = 0 WHERE indexed <> 0"));
  return clear_passages(db);
}

// Indexes the next records of one kind. Returns how many there were.
Result<std::int64_t> add_some(Db& db, const IndexedTable& each, std::int64_t rows) {
  const std::string table(each.table), view(each.view);
  const std::int64_t from =
      TRY(db.integer("SELECT up_to FROM index_rebuild WHERE name = ?", each.view)).value_or(0);
  const std::string next = "SELECT id FROM " + table + " WHERE id > ? ORDER BY id LIMIT ?";
  std::int64_t to = from, count = 0;
  {
    Stmt row = TRY(db.query(next, from, rows));
    for (; TRY(row.step()); ++count) to = row.integer(0);
  }
  if (count == 0) return count;
  TRY(
      db.run("INSERT INTO memory_index_next(rowid, scope, title, body, files, concepts) SELECT entry, scope, "
             "title, body, files, concepts FROM " +
                 view + " WHERE id > ? AND id <= ?",
             from, to));
  TRY(db.run("UPDATE index_rebuild SET up_to = ? WHERE name = ?", to, each.view));
  return count;
}

}  // namespace

Result<bool> is_reindexing(Db& db) {
  return TRY(db.integer("SELECT 1 FROM index_rebuild LIMIT 1")).has_value();
}

Result<bool> begin_reindex(Db& db) {
  if (TRY(is_reindexing(db))) return false;
  std::string sql(kNew);
  for (const IndexedTable& each : kIndexed) sql += triggers_of(each);
  TRY(db.exec(sql));
  for (const IndexedTable& each : kIndexed)
    TRY(db.run("INSERT INTO index_rebuild(name, up_to) VALUES(?, 0)", each.view));
  return true;
}

Result<bool> reindex_step(Db& db, std::int64_t rows) {
  if (!TRY(is_reindexing(db))) return false;
  for (const IndexedTable& each : kIndexed)
    if (TRY(add_some(db, each, rows)) > 0) return true;
  TRY(replace_index(db));
  return true;
}

Result<ReindexProgress> reindex_progress(Db& db) {
  ReindexProgress progress;
  progress.running = TRY(is_reindexing(db));
  for (const IndexedTable& each : kIndexed) {
    progress.all += TRY(db.integer("SELECT max(id) FROM " + std::string(each.table))).value_or(0);
    progress.done += TRY(db.integer("SELECT up_to FROM index_rebuild WHERE name = ?", each.view)).value_or(0);
  }
  return progress;
}

}  // namespace cairn::store
