#include "store/copy_store.h"

#include <sqlite3.h>

#include "store/fts.h"
#include "store/migrate.h"
#include "store/schema.h"

namespace cairn::store {

static Result<Db> open_copy(const std::string& path) {
  Db::Options options;
  options.path = path;
  options.mode = Db::Mode::read_only;
  Db copy = TRY(Db::open(options).in(path));
  TRY(register_tokenizer(copy));
  return copy;
}

// All pages of `from` to `to`, as of one moment.
static Status copy_pages(Db& from, Db& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.raw(), "main", from.raw(), "main");
  if (!backup) return Error{Code::internal, sqlite3_errmsg(to.raw())};
  // -1: all pages in one step. Between two steps a write would make the copy start again.
  const int stepped = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (stepped == SQLITE_DONE && finished == SQLITE_OK) return {};
  return Error{stepped == SQLITE_FULL ? Code::full : Code::internal,
               sqlite3_errstr(stepped == SQLITE_DONE ? finished : stepped)};
}

Status write_copy(Db& db, const std::string& path) {
  Db::Options options;
  options.path = path;
  Db copy = TRY(Db::open(options).in(path));
  TRY(copy_pages(db, copy).in(path));
  // One file: nothing of it may wait in a WAL.
  return copy.exec("PRAGMA journal_mode = DELETE");
}

Status check_copy(const std::string& path) {
  Db copy = TRY(open_copy(path));
  if (TRY(schema_version(copy)) == 0) return Error{Code::corrupt, path + " is not a store of cairn"};
  return copy.integrity_check(true).in(path);
}

Status restore_copy(Db& db, const std::string& path, WallTime now) {
  Db copy = TRY(open_copy(path));
  TRY(copy_pages(copy, db).in("restore"));
  return migrate(db, schema(), now);
}

}  // namespace cairn::store
