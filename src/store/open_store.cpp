#include "store/open_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "store/first_page.h"
#include "store/meta.h"
#include "store/migrate.h"
#include "store/salvage.h"
#include "store/schema.h"
#include "store/states.h"
#include "store/wal.h"

// A start goes like this:
// 1. Read the state file. `damaged`: an earlier daemon found damage, go to 4.
// 2. Look for damage from the cheapest to the dearest check: the file's size, its first page, the WAL, the
//    schema's hash, the pages of a small store. The database file is not changed before all are passed.
// 3. Migrate, write `open` to the state file, and return the connection.
// 4. Rename the damaged file and its WAL, build a new one from its rows, rename that to `cairn.db`, write
//    `closed`, and continue with 2.

namespace cairn::store {

namespace {

// Time limit for checking a small store at a start, because a session waits for it.
constexpr Millis kCheckTime = std::chrono::milliseconds(200);
// How often the time is looked at: a step may read a page, which takes a millisecond on a slow disk.
constexpr int kStepsBetweenLooks = 50;
// A store of up to this many pages is checked with all its indexes in a small part of that time.
constexpr std::int64_t kFewPages = 1000;
// How long damage is reported. The damaged file itself stays until the user removes it.
constexpr Millis kReported = std::chrono::hours(24 * 14);

// The state file: one line, "closed SCHEMA", "open SCHEMA" or "damaged TIME REASON".
struct State {
  StoreState kind = StoreState::none;
  std::string schema;  // closed, open: the hash of the schema; may be missing
  std::string time;    // damaged: part of the name of the damaged file
  std::string reason;  // damaged
};

std::string state_path(const std::string& path) {
  return path + ".state";
}

std::string damaged_path(const std::string& path, std::string_view time) {
  return path + ".damaged-" + std::string(time);
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

Result<State> read_state(os::Disk& disk, const std::string& path) {
  auto text = os::read_file(disk, state_path(path), 4096);
  if (!text && text.error().code == Code::not_found) return State{};
  if (!text && text.error().code != Code::invalid) return std::move(text).error();
  const std::string line(text ? trim(*text) : "");
  const auto words = split(line, ' ');
  const auto word = [&](std::size_t i) { return std::string(i < words.size() ? words[i] : ""); };
  const StoreState kind = named<StoreState>(word(0)).value_or(StoreState::none);
  if (kind == StoreState::closed || kind == StoreState::open) return State{kind, word(1), "", ""};
  // An unreadable state counts as `open`, the most careful one: the WAL must then be there, and no schema is
  // compared.
  if (words.size() < 3 || kind != StoreState::damaged) return State{StoreState::open, "", "", ""};
  return State{kind, "", word(1), line.substr(words[0].size() + words[1].size() + 2)};
}

// `rest`: what follows the kind; may be empty.
Status write_state(os::Disk& disk, const std::string& path, StoreState kind, std::string_view rest) {
  return os::replace_file(disk, state_path(path),
                          fmt::format("{}{}{}\n", name_of(kind), rest.empty() ? "" : " ", rest));
}

// "20261115T233141Z"
std::string compact(WallTime now) {
  std::string text = iso8601(now).substr(0, 19) + "Z";
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

// Refuses a database of another program: it has tables, but not ours.
Status check_owner(Db& db) {
  const auto foreign =
      TRY(db.integer("SELECT count(*) > 0 AND count(*) FILTER (WHERE name = 'schema_migrations') = 0 FROM "
                     "sqlite_schema WHERE type = 'table'"));
  if (foreign.value_or(0) != 0) return Error{Code::corrupt, "it is a database that is not cairn's"};
  return {};
}

// Compared with the hash of the last start. SQLite does not notice a CREATE statement that is damaged but
// still valid SQL.
Result<std::string> schema_hash(Db& db) {
  const auto all =
      TRY(db.text("SELECT group_concat(type || name || tbl_name || coalesce(sql, ''), char(10) ORDER BY "
                  "rowid) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"));
  return content_hash(all.value_or(""));
}

// Makes catch-up read all transcripts from their beginning. Calls that are stored already are not stored
// twice.
Status read_transcripts_again(Db& db) {
  return db.exec(
      "UPDATE sdk_sessions SET transcript_due = 1;INSERT OR IGNORE INTO transcripts(session_db_id, path, "
      "inode, read_to, prompt_id, lines, malformed, too_long) SELECT id, transcript_path, 0, 0, '', 0, 0, 0 "
      "FROM sdk_sessions WHERE transcript_path <> '';UPDATE transcripts SET inode = 0, read_to = 0, "
      "prompt_id = '', lines = 0, malformed = 0, too_long = 0;DELETE FROM transcript_calls WHERE outcome <> "
      "'counted'");
}

// What recent_damage() shows to the user.
Status note_event(Db& db, std::string_view what, WallTime now) {
  TRY(put_meta(db, kDamage, what));
  TRY(put_meta(db, kDamageAt, epoch_ms(now)));
  return add_to_meta(db, kDamages, 1);
}

Status note_lost_wal(Db& db, std::string_view how, WallTime now, Log& log) {
  const std::string what = fmt::format(
      "the store's write-ahead log was {} at a start after an unclean end: what it held is recovered from "
      "transcripts, the rest of it is lost",
      how);
  log.error(what);
  auto transaction = TRY(Transaction::begin(db));
  TRY(read_transcripts_again(db));
  TRY(note_event(db, what, now));
  return transaction.commit();
}

// Whether it is about to be migrated, which changes the schema's hash.
Result<bool> is_older(Db& db) {
  const auto version = TRY(db.integer("SELECT max(version) FROM schema_migrations"));
  return version.value_or(0) < schema().back().version;
}

// Says how the write-ahead log was lost: "missing", "damaged", or empty when it was not. SQLite removes the
// log only at a clean end, so after an unclean one it must be there.
Result<std::string_view> check_wal(os::Disk& disk, const std::string& path, const State& last) {
  const auto wal = disk.stat(path + "-wal");
  if (!wal && wal.error().code != Code::not_found) return wal.error();
  if (!wal) return std::string_view(last.kind == StoreState::open ? "missing" : "");
  // We can read what a killed daemon wrote, but neither the content nor the file's name need be on the disk.
  TRY(write_wal_again(disk, path + "-wal"));
  TRY(disk.sync_dir(parent_of(path)));
  return std::string_view(TRY(wal_is_damaged(disk, path + "-wal")) ? "damaged" : "");
}

// Steps 2 and 3. Fails with `corrupt` when the store has to be rebuilt. `last`: how it was left.
Result<Db> open_checked(os::Disk& disk, os::Clock& clock, Db::Options options, const State& last, Log& log) {
  const auto stat = disk.stat(options.path);
  if (!stat && stat.error().code != Code::not_found) return stat.error();
  const bool empty = !stat || stat->size == 0;
  if (empty && last.kind != StoreState::none)
    return Error{Code::corrupt, stat ? "its file is empty" : "its file is gone"};
  const std::string first = empty ? "" : TRY(read_first_page(disk, options.path));
  if (!empty) TRY(check_first_page(first));
  const std::string_view lost_wal = TRY(check_wal(disk, options.path, last));
  options.check = check_owner;
  Db db = TRY(Db::open(options));
  db.keep_wal(true);  // do not touch the file while it may turn out to be damaged
  std::string hash = TRY(schema_hash(db));
  if (!last.schema.empty() && last.schema != hash) return Error{Code::corrupt, "its schema was changed"};
  // A session waits, and pages that are not in memory take a millisecond each: a large store is checked after
  // the first answers.
  if (TRY(is_small(db))) TRY(check_pages(clock, db, kCheckTime, nullptr));
  // A migration changes the schema. If we die after it, the next start must not compare the new schema with
  // the old hash and report damage: so the hash leaves the state file first.
  if (!last.schema.empty() && TRY(is_older(db))) TRY(write_state(disk, options.path, StoreState::open, ""));
  const auto version = TRY(db.integer("PRAGMA schema_version"));
  TRY(migrate(db, schema(), clock.now()));
  if (TRY(db.integer("PRAGMA schema_version")) != version) hash = TRY(schema_hash(db));
  if (!lost_wal.empty()) TRY(note_lost_wal(db, lost_wal, clock.now(), log));
  db.keep_wal(false);
  // Only after a clean close the file has the newest first page: else a newer one may be in the WAL. Without
  // the copy the store works all the same, so an error is ignored.
  if (!empty && last.kind == StoreState::closed && last.schema == hash)
    ignore(keep_first_page(disk, options.path, first));
  // Only after the WAL's name is durable: "open" without a WAL would look like a lost one. On a full disk the
  // state stays as it was.
  if ((last.kind != StoreState::open || last.schema != hash) && disk.sync_dir(parent_of(options.path)))
    ignore(write_state(disk, options.path, StoreState::open, hash));
  return db;
}

// The WAL goes first: SQLite would apply it to whichever database has the name.
Status move_away(os::Disk& disk, const std::string& path, const std::string& damaged) {
  for (const char* part : {"-wal", ""}) {
    if (disk.stat(damaged + part).ok()) continue;  // renamed already, before a crash
    const auto moved = disk.rename(path + part, damaged + part);
    if (!moved && moved.error().code != Code::not_found) return moved;
  }
  ignore(disk.remove(path + "-shm"));
  return disk.sync_dir(parent_of(path));
}

std::string damage_message(const State& last, const std::string& damaged, const Salvaged& salvaged) {
  return fmt::format(
      "the store was damaged ({}) and was rebuilt: {} rows were saved, {} did not fit, {} places could not "
      "be read; transcripts are read again; the damaged one is {}",
      last.reason, salvaged.kept, salvaged.refused, salvaged.gaps, damaged);
}

Status remove_database(os::Disk& disk, const std::string& path) {
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    const auto removed = disk.remove(path + part);
    if (!removed && removed.error().code != Code::not_found) return removed;
  }
  return {};
}

// Makes a new database at `fresh` of the rows that can be read in `from`.
Result<Salvaged> build_of(os::Disk& disk, const Db::Options& options, const std::string& from,
                          const std::string& fresh, WallTime now) {
  TRY(remove_database(disk, fresh));
  Db::Options to = options, source = options;
  to.path = fresh;
  source.path = from;
  Db db = TRY(Db::open(to));
  TRY(db.exec("PRAGMA synchronous=OFF"));
  const auto there = disk.stat(from);
  // A file that is missing or empty has no rows: the result is an empty store with one gap.
  if (there && there->size > 0) return salvage(source, db, now);
  TRY(migrate(db, schema(), now));
  return Salvaged{.gaps = 1};
}

// Makes the database that replaces the damaged one, complete and durable, under the name `fresh`. It is
// synced once, at the end: after a crash it is made again from the beginning. When no row can be read, tries
// once more with a repaired first page.
Status build(os::Disk& disk, const Db::Options& options, const State& last, const std::string& damaged,
             const std::string& fresh, WallTime now, Log& log) {
  const std::string copy = fresh + ".from";
  Salvaged salvaged = TRY(build_of(disk, options, damaged, fresh, now));
  if (salvaged.kept == 0 && disk.stat(damaged).ok() &&
      TRY(copy_with_first_page(disk, options.path, damaged, copy)))
    salvaged = TRY(build_of(disk, options, copy, fresh, now));
  TRY(remove_database(disk, copy));
  {
    Db::Options to = options;
    to.path = fresh;
    Db db = TRY(Db::open(to));
    TRY(db.exec("PRAGMA synchronous=OFF"));
    const std::string message = damage_message(last, damaged, salvaged);
    {
      auto transaction = TRY(Transaction::begin(db));
      TRY(read_transcripts_again(db));
      TRY(note_event(db, message, now));
      TRY(transaction.commit());
    }
    TRY(db.integrity_check());
    TRY(db.checkpoint(true));
    log.error(message);
  }
  ignore(disk.remove(fresh + "-wal"));  // empty after the checkpoint
  auto file = TRY(disk.open(fresh, os::Open::read_write));
  return file->sync();
}

Status rebuild(os::Disk& disk, const Db::Options& options, const State& last, WallTime now, Log& log) {
  const std::string& path = options.path;
  const std::string damaged = damaged_path(path, last.time), fresh = path + ".new";
  // When both files are there, an earlier rebuild was complete and died before it wrote the state.
  if (!disk.stat(damaged).ok() || !disk.stat(path).ok()) {
    log.error("the store is damaged: " + last.reason + ": saving what can be read");
    TRY(move_away(disk, path, damaged));
    TRY(build(disk, options, last, damaged, fresh, now, log));
    TRY(disk.rename(fresh, path));
    TRY(disk.sync_dir(parent_of(path)));
  }
  return write_state(disk, path, StoreState::closed, "");
}

}  // namespace

Result<bool> is_small(Db& db) {
  return TRY(db.integer("PRAGMA page_count")).value_or(0) <= kFewPages;
}

// In a large store first every page, then the indexes: the time may end before the second check, which takes
// several times as long. A small one gets only the second, which includes the first.
Status check_pages(os::Clock& clock, Db& db, Millis time, const std::atomic<bool>* stopping) {
  struct Limit {
    os::Clock& clock;
    std::int64_t until;
    const std::atomic<bool>* stopping;
  } limit{clock, clock.boot_ns() + time.count() * 1'000'000, stopping};
  const auto enough = [](void* p) -> int {
    const auto* left = static_cast<Limit*>(p);
    return left->clock.boot_ns() > left->until || (left->stopping && *left->stopping);
  };
  const bool small = TRY(is_small(db));
  sqlite3_progress_handler(db.raw(), kStepsBetweenLooks, enough, &limit);
  Status checked = small ? Status() : db.integrity_check();
  if (checked) checked = db.integrity_check(true);
  sqlite3_progress_handler(db.raw(), 0, nullptr, nullptr);
  // The time is over, or the daemon stops: nothing was found so far.
  if (!checked && checked.error().code == Code::canceled) return {};
  return checked;
}

Result<Db> open_store(os::Disk& disk, os::Clock& clock, const Db::Options& options, Log& log) {
  State last = TRY(read_state(disk, options.path));
  if (last.kind != StoreState::damaged) {
    auto opened = open_checked(disk, clock, options, last, log);
    if (opened || opened.error().code != Code::corrupt) return opened;
    TRY(note_damage(disk, options.path, opened.error().message, clock.now()));
    last = TRY(read_state(disk, options.path));
  }
  TRY(rebuild(disk, options, last, clock.now(), log).in("rebuilding the damaged store"));
  return open_checked(disk, clock, options, {StoreState::closed, "", "", ""}, log);
}

// Write `closed` first, or the next start reports a lost WAL. When that fails, keep the WAL.
void note_clean_close(os::Disk& disk, Db& db, const std::string& path) {
  const auto noted = [&]() -> Status {
    const State last = TRY(read_state(disk, path));
    if (last.kind == StoreState::damaged) return Error{Code::corrupt, last.reason};
    return write_state(disk, path, StoreState::closed,
                       last.schema.empty() ? TRY(schema_hash(db)) : last.schema);
  }();
  if (!noted) db.keep_wal(true);
}

Status note_damage(os::Disk& disk, const std::string& path, std::string_view what, WallTime now) {
  // The name must be new: rebuild() takes an existing file for the result of an earlier attempt.
  while (disk.stat(damaged_path(path, compact(now))).ok()) now += std::chrono::seconds(1);
  return write_state(disk, path, StoreState::damaged, compact(now) + " " + one_line(visible(what), 300));
}

Result<std::optional<std::string>> recent_damage(Db& db, WallTime now) {
  const auto at = TRY(meta_number(db, kDamageAt));
  if (!at || *at <= epoch_ms(now - kReported)) return std::optional<std::string>();
  return meta_text(db, kDamage);
}

}  // namespace cairn::store
