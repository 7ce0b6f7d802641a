#include "store/salvage.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/text.h"
#include "store/compress.h"
#include "store/migrate.h"
#include "store/payload.h"
#include "store/queue.h"
#include "store/schema.h"
#include "store/totals.h"

// How a damaged database is copied:
// 1. The new one gets the schema version that the damaged one has, so that columns match.
// 2. Each table is copied row by row. Tables with row ids jump over what cannot be read; the others are read
//    from both ends.
// 3. Rows of `projects` and `sdk_sessions` that were lost are made from the entries of their indexes.
// 4. The new one is migrated, and its counts are made again.

namespace cairn::store {

namespace {

constexpr std::int64_t kRowsATransaction = 5000;

// Make lost rows from `part`, which has what the indexes say of them: the table's columns, NULL where no
// index has the column. Columns that must not be NULL get a value that is made from the id. Sessions of a
// project that does not exist are left out: a damaged index may name any.
constexpr std::string_view kProjectsOfParts = R"sql(
INSERT OR IGNORE INTO projects(id, uuid, key, name, root, created_at, created_at_epoch)
SELECT id, coalesce(uuid, 'salvaged-' || id), coalesce(key, 'salvaged-' || id), coalesce(name, 'salvaged-' || id),
  coalesce(key, ''), '', 0 FROM part)sql";
constexpr std::string_view kSessionsOfParts = R"sql(
INSERT OR IGNORE INTO sdk_sessions(id, uuid, platform, content_session_id, memory_session_id, memory_provider,
  project, started_at, started_at_epoch, last_event_at_epoch, completed_at, completed_at_epoch, status, end_reason)
SELECT id, coalesce(uuid, 'salvaged-' || id), coalesce(platform, 'claude-code'), content_session_id,
  memory_session_id, iif(memory_session_id IS NULL, NULL, 'builtin'), project, at, began, began, at, began,
  'failed', 'salvaged'
FROM (SELECT *, coalesce(started_at_epoch, 0) AS began,
  strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(started_at_epoch, 0) / 1000.0, 'unixepoch') AS at FROM part
  WHERE project IN (SELECT name FROM projects)))sql";

using Names = std::vector<std::string>;

std::string column_list(const Names& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return list;
}

// The first column of all rows up to the first error: a name that cannot be read counts as missing.
template <class... Args>
Names texts(Db& db, std::string_view sql, const Args&... args) {
  Names found;
  auto row = db.query(sql, args...);
  while (row && row->step().value_or(false)) found.push_back(row->text(0));
  return found;
}

class Salvage {
 public:
  Salvage(Db& from, Db& to) : from_(from), to_(to) {}

  Status run();
  const Salvaged& result() const { return result_; }

 private:
  Status copy_table(const std::string& table, bool has_rowid);
  Status copy_moves();
  Status by_rowid(const std::string& table);
  Status by_key(const std::string& table);
  static std::optional<std::int64_t> readable_from(Stmt& row, std::int64_t unreadable);
  Status put(const Stmt& row, int first, bool again = false);
  bool is_undamaged(const Stmt& row, int first) const;
  Status of_indexes(const std::string& table, std::string_view insert);
  Status note_entries(const std::string& table, const std::string& index);
  Status written();

  Db& from_;
  Db& to_;
  std::optional<Transaction> transaction_;
  std::int64_t uncommitted_ = 0;
  Names columns_;  // of the current table, those that both databases have
  std::optional<Stmt> insert_;
  bool payloads_ = false;  // the current table is `payloads`: check hashes
  Salvaged result_;
};

// The tables come in the order of their creation, so that a row comes after those it refers to. The words of
// passages and tool calls are in no table: their progress is not copied, and they are indexed again.
Status Salvage::run() {
  transaction_.emplace(TRY(Transaction::begin(to_)));
  struct Table {
    std::string name;
    bool has_rowid = true;
  };
  std::vector<Table> tables;
  {
    Stmt row =
        TRY(to_.query("SELECT s.name, l.wr FROM sqlite_schema s JOIN pragma_table_list l ON l.name = s.name "
                      "AND l.schema = 'main' WHERE l.type = 'table' AND s.type = 'table' AND s.name NOT LIKE "
                      "'sqlite\\_%' ESCAPE '\\' AND s.name NOT IN ('schema_migrations', 'passages', "
                      "'passage_progress', 'index_rebuild', 'tallies') ORDER BY s.rowid"));
    while (TRY(row.step())) tables.push_back({row.text(0), row.integer(1) == 0});
  }
  for (const Table& table : tables) {
    const std::int64_t gaps = result_.gaps, refused = result_.refused;
    TRY(copy_table(table.name, table.has_rowid).in(table.name));
    if (table.name == "projects") TRY(copy_moves());
    if (result_.gaps == gaps && result_.refused == refused) continue;
    if (table.name == "projects") TRY(of_indexes(table.name, kProjectsOfParts));
    if (table.name == "sdk_sessions") TRY(of_indexes(table.name, kSessionsOfParts));
  }
  TRY(to_.run("UPDATE evidence SET indexed = 0 WHERE indexed <> 0"));
  return transaction_->commit();
}

// Copies the columns that both databases have. Damage in the schema can hide some; generated columns (hidden
// <> 0) cannot be written.
Status Salvage::copy_table(const std::string& table, bool has_rowid) {
  const Names there = texts(from_, "SELECT name FROM pragma_table_info(?)", table);
  columns_ = texts(to_, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", table);
  std::erase_if(columns_, [&](const std::string& column) { return std::ranges::count(there, column) == 0; });
  std::erase(columns_, "moves_to");  // copy_moves()
  if (columns_.empty()) {
    ++result_.gaps;
    return {};
  }
  payloads_ = table == "payloads";
  std::string marks;
  for (std::size_t i = 0; i < columns_.size(); ++i) marks += i == 0 ? "?" : ",?";
  insert_ =
      TRY(to_.prepare("INSERT INTO \"" + table + "\"(" + column_list(columns_) + ") VALUES(" + marks + ")"));
  const Status done = has_rowid ? by_rowid(table) : by_key(table);
  insert_.reset();
  return done;
}

// A project may move to one with a higher number, which is copied after it.
Status Salvage::copy_moves() {
  auto row = from_.prepare("SELECT id, moves_to FROM projects WHERE moves_to IS NOT NULL");
  for (auto more = row ? row->step() : Result<bool>(row.error()); more && *more; more = row->step())
    TRY(to_.run(
        "UPDATE projects SET moves_to = ?2 WHERE id = ?1 AND EXISTS (SELECT 1 FROM projects WHERE id = ?2)",
        row->integer(0), row->integer(1)));
  return {};
}

// Reads in the order of row ids, and jumps over places that cannot be read.
Status Salvage::by_rowid(const std::string& table) {
  auto prepared = from_.prepare("SELECT rowid, " + column_list(columns_) + " FROM \"" + table +
                                "\" NOT INDEXED WHERE rowid >= ? ORDER BY rowid");
  if (!prepared) {
    ++result_.gaps;
    return {};
  }
  Stmt row = *std::move(prepared);
  for (std::int64_t next = 0;;) {
    row.reset();
    row.bind(1, next);
    auto more = row.step();
    // An id below `next` means that pages are in the wrong order: that counts as unreadable too.
    while (more && *more && row.integer(0) >= next) {
      TRY(put(row, 1));
      if (row.integer(0) == std::numeric_limits<std::int64_t>::max()) return {};
      next = row.integer(0) + 1;
      more = row.step();
    }
    if (more && !*more) return {};  // the end of the table
    ++result_.gaps;
    const auto beyond = readable_from(row, next);
    if (!beyond) return {};
    next = *beyond;
  }
}

// The smallest rowid after `unreadable` from which a row, or the end, can be read. Small steps first, so that
// a readable page between two damaged ones is not missed.
std::optional<std::int64_t> Salvage::readable_from(Stmt& row, std::int64_t unreadable) {
  const auto reads = [&](std::int64_t from) {
    row.reset();
    row.bind(1, from);
    const auto found = row.step();
    return found && (!*found || row.integer(0) >= from);
  };
  std::int64_t bad = unreadable, step = 1;
  for (int tries = 0; !reads(bad + step); ++tries) {
    bad += step;
    if (tries >= 64) step = tries < 128 ? 16 : step * 2;  // 64 steps of 1, 64 of 16, then doubling
    if (step > std::numeric_limits<std::int64_t>::max() / 2 - bad) return std::nullopt;
  }
  std::int64_t good = bad + step;  // the first good one is in (bad, good]: halve that
  while (good - bad > 1) {
    const std::int64_t middle = bad + (good - bad) / 2;
    (reads(middle) ? good : bad) = middle;
  }
  return good;
}

// A table without row ids can only be read from its ends: read it from both ends up to the damage.
Status Salvage::by_key(const std::string& table) {
  const Names key = texts(from_, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table);
  for (const bool back : {false, true}) {
    std::string order;
    for (const std::string& column : key)
      order += (order.empty() ? "\"" : ", \"") + column + "\"" + (back ? " DESC" : "");
    auto row = from_.prepare("SELECT " + column_list(columns_) + " FROM \"" + table + "\" ORDER BY " + order);
    auto more = row ? row->step() : Result<bool>(row.error());
    for (; more && *more; more = row->step()) TRY(put(*row, 0, back));
    if (more) return {};  // read to the end without an error: nothing is missing
    if (!back) ++result_.gaps;
  }
  return {};
}

// SQLite has no checksums of rows: a flipped byte in a text is found only if it breaks the UTF-8, or the hash
// that a payload has.
bool Salvage::is_undamaged(const Stmt& row, int first) const {
  std::string hash, body;
  bool is_packed = true;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const int column = first + static_cast<int>(i);
    if (row.is_text(column) && !is_utf8(row.text(column))) return false;
    if (payloads_ && columns_[i] == "hash") hash = row.text(column);
    if (payloads_ && columns_[i] == "body") {
      body = row.blob(column);
      is_packed = !row.is_text(column);
    }
  }
  if (!payloads_) return true;
  const auto text = is_packed ? decompress(body) : Result(body);
  return text && is_payload_key(hash, *text);
}

// `again`: a row may be there already, copied from the other end.
Status Salvage::put(const Stmt& row, int first, bool again) {
  if (!is_undamaged(row, first)) {
    ++result_.refused;
    return {};
  }
  for (std::size_t i = 0; i < columns_.size(); ++i)
    insert_->bind_column(static_cast<int>(i) + 1, row, first + static_cast<int>(i));
  const auto done = insert_->run();
  insert_->reset();
  if (!done) {
    if (done.error().code != Code::invalid) return done;  // else a constraint: the row does not fit
    if (!again) ++result_.refused;
    return {};
  }
  ++result_.kept;
  return written();
}

Status Salvage::written() {
  if (++uncommitted_ < kRowsATransaction) return {};
  uncommitted_ = 0;
  TRY(transaction_->commit());
  transaction_.emplace(TRY(Transaction::begin(to_)));
  return {};
}

// Gathers what all indexes of the table say about rows that were not copied, and inserts these rows.
Status Salvage::of_indexes(const std::string& table, std::string_view insert) {
  TRY(to_.exec("CREATE TEMP TABLE part AS SELECT * FROM \"" + table + "\" WHERE 0"));
  TRY(to_.exec("CREATE UNIQUE INDEX temp.part_id ON part(id)"));
  for (const std::string& index : texts(from_, "SELECT name FROM pragma_index_list(?)", table))
    TRY(note_entries(table, index));
  TRY(to_.run(insert));
  result_.kept += to_.changes();
  return to_.exec("DROP TABLE temp.part");
}

// Adds the entries of one index to `part`. An index has the row's id and its own columns, so that with
// INDEXED BY the damaged table is not read. It is read from both ends up to the damage. A partial index
// cannot serve a query without its condition: preparing that fails, and the index is left out.
Status Salvage::note_entries(const std::string& table, const std::string& index) {
  const Names columns = texts(from_, "SELECT name FROM pragma_index_info(?)", index);
  std::string set;
  for (const std::string& column : columns) set += (set.empty() ? "\"" : ", \"") + column + "\" = ?";
  const std::string all = "SELECT id, " + column_list(columns) + " FROM \"" + table + "\" INDEXED BY \"" +
                          index + "\" ORDER BY " + column_list(columns);
  for (const std::string& order : {std::string(), std::string(" DESC")}) {
    auto row = from_.prepare(all + order);
    for (auto more = row ? row->step() : Result<bool>(row.error()); more && *more; more = row->step()) {
      const std::int64_t id = row->integer(0);
      if (TRY(to_.integer("SELECT 1 FROM \"" + table + "\" WHERE id = ?", id))) continue;
      TRY(to_.run("INSERT OR IGNORE INTO part(id) VALUES(?)", id));
      Stmt note = TRY(to_.prepare("UPDATE part SET " + set + " WHERE id = ?"));
      for (std::size_t i = 0; i < columns.size(); ++i)
        note.bind_column(static_cast<int>(i) + 1, *row, static_cast<int>(i) + 1);
      TRY(note.bind(static_cast<int>(columns.size()) + 1, id).run());
    }
  }
  return {};
}

}  // namespace

Result<Salvaged> salvage(const Db::Options& damaged, Db& to, WallTime now) {
  Db::Options options = damaged;
  options.mode = Db::Mode::read_only;
  options.damaged = true;
  auto from = Db::open(options);
  if (!from) {
    TRY(migrate(to, schema(), now));
    if (from.error().code != Code::corrupt) return std::move(from).error();
    return Salvaged{.gaps = 1};
  }
  from->keep_wal(true);
  ignore(from->prepare("SELECT 1 FROM sqlite_schema"));  // a damaged schema fails the first statement only
  std::span<const Migration> known = schema();
  const std::int64_t newest = known.back().version;
  // A newer schema has our newest version and the next one; any other higher number is damage.
  const auto follows =
      from->integer("SELECT count(*) FROM schema_migrations WHERE version IN (?, ?)", newest, newest + 1);
  if (follows && follows->value_or(0) == 2)
    return Error{Code::unsupported, "the damaged database is of a newer cairn: install that one"};
  const auto version = from->integer("SELECT max(version) FROM schema_migrations WHERE version <= ?", newest);
  const std::int64_t damaged_version = version ? version->value_or(0) : 0;
  // Copy into the schema version that it has, then migrate as usual.
  const auto newer =
      std::ranges::find_if(known, [&](const Migration& m) { return m.version > damaged_version; });
  if (damaged_version > 0) known = known.first(static_cast<std::size_t>(newer - known.begin()));
  TRY(migrate(to, known, now));
  Salvage work(*from, to);
  TRY(work.run());
  TRY(migrate(to, schema(), now));
  TRY(count_again(to));
  TRY(refresh_ready(to));  // turns may be gone, and with them the event that ends them
  return work.result();
}

}  // namespace cairn::store
