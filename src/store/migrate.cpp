#include "store/migrate.h"

#include <algorithm>
#include <string>

#include "base/hash.h"

namespace cairn::store {

static std::string label(std::int64_t version, std::string_view name) {
  return std::to_string(version) + " (" + std::string(name) + ")";
}

// How many of `migrations`, from the first on, the database has.
static Result<std::size_t> count_applied(Db& db, std::span<const Migration> migrations) {
  const std::int64_t newest = migrations.empty() ? 0 : migrations.back().version;
  Stmt row = TRY(db.query("SELECT version, name, hash FROM schema_migrations ORDER BY version"));
  std::size_t applied = 0;
  while (TRY(row.step())) {
    const std::string found = label(row.integer(0), row.text(1));
    if (row.integer(0) > newest) {
      return Error{Code::unsupported, "the database has schema version " + found +
                                          ", this cairn knows only up to " + std::to_string(newest) +
                                          ": install the newer cairn that wrote it"};
    }
    if (applied == migrations.size() || migrations[applied].version != row.integer(0)) {
      return Error{Code::corrupt, "schema version " + found + " is not one of cairn's: restore a backup"};
    }
    if (content_hash(migrations[applied].sql) != row.text(2)) {
      return Error{Code::corrupt, "schema version " + found +
                                      " was applied with another text: use the cairn that applied it"};
    }
    ++applied;
  }
  return applied;
}

static Status create_list(Db& db) {
  return db.exec(
      "CREATE TABLE IF NOT EXISTS schema_migrations(version INTEGER PRIMARY KEY, name TEXT NOT NULL, hash "
      "TEXT "
      "NOT NULL, applied_at TEXT NOT NULL)");
}

static Status note_applied(Db& db, const Migration& migration, WallTime now) {
  return db.run("INSERT INTO schema_migrations(version, name, hash, applied_at) VALUES (?, ?, ?, ?)",
                migration.version, migration.name, content_hash(migration.sql), iso8601(now));
}

static Status apply(Db& db, const Migration& migration, WallTime now) {
  Transaction transaction = TRY(Transaction::begin(db));
  TRY(db.exec(std::string(migration.sql)));
  TRY(note_applied(db, migration, now));
  return transaction.commit();
}

// Creates all tables from one text. `migrations` ends with the one that has it. All of them are noted as
// applied, so that the database looks like one that was migrated step by step.
static Status create_whole(Db& db, std::span<const Migration> migrations, WallTime now) {
  Transaction transaction = TRY(Transaction::begin(db));
  TRY(create_list(db));
  TRY(db.exec(std::string(migrations.back().whole)));
  for (const Migration& migration : migrations) TRY(note_applied(db, migration, now));
  return transaction.commit();
}

static Status create(Db& db, std::span<const Migration> migrations, WallTime now) {
  const auto whole = std::ranges::find_if(migrations.rbegin(), migrations.rend(),
                                          [](const Migration& m) { return !m.whole.empty(); });
  if (whole == migrations.rend()) return create_list(db);
  return create_whole(db, {migrations.begin(), whole.base()}, now).in("creating the tables");
}

Status migrate(Db& db, std::span<const Migration> migrations, WallTime now) {
  CAIRN_ASSERT(std::ranges::adjacent_find(migrations, std::ranges::greater_equal(), &Migration::version) ==
               migrations.end());
  const bool empty = TRY(db.integer("SELECT count(*) FROM sqlite_schema")) == 0;
  TRY(empty ? create(db, migrations, now) : create_list(db));
  const std::size_t applied = TRY(count_applied(db, migrations));
  for (const Migration& migration : migrations.subspan(applied)) {
    TRY(apply(db, migration, now).in("schema version " + label(migration.version, migration.name)));
  }
  return {};
}

Result<std::int64_t> schema_version(Db& db) {
  return TRY(db.integer("SELECT max(version) FROM schema_migrations")).value_or(0);
}

}  // namespace cairn::store
