#include "store/sound.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "store/first_page.h"
#include "store/migrate.h"
#include "store/salvage.h"
#include "store/schema.h"
#include "store/wal.h"

namespace cairn::store {

namespace {

// What a start may spend on looking at pages: a session waits for it. Some 100 MB.
constexpr std::int64_t kLookNs = 200'000'000;
// As many are looked at, indexes and all, in a small part of that time.
constexpr std::int64_t kFewPages = 1000;
// The user has seen it by then; the file that was set aside stays until he removes it.
constexpr Millis kTold = std::chrono::hours(24 * 14);

// Its line is "closed SCHEMA", "open SCHEMA" or "damaged TIME REASON".
struct Witness {
  std::string state;   // closed, open, damaged; empty: there never was a store
  std::string schema;  // closed, open: the hash of the schema; may be missing
  std::string time;    // damaged: in the name of what is set aside
  std::string reason;  // damaged
};

std::string witness_path(const std::string& path) {
  return path + ".state";
}

std::string aside_path(const std::string& path, std::string_view time) {
  return path + ".damaged-" + std::string(time);
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

Result<Witness> read_witness(os::Disk& disk, const std::string& path) {
  auto text = os::read_file(disk, witness_path(path), 4096);
  if (!text && text.error().code == Code::not_found) return Witness{};
  if (!text && text.error().code != Code::invalid) return std::move(text).error();
  const std::string line(text ? trim(*text) : "");
  const auto words = split(line, ' ');
  const auto word = [&](std::size_t i) { return std::string(i < words.size() ? words[i] : ""); };
  if (word(0) == "closed" || word(0) == "open") return Witness{word(0), word(1), "", ""};
  if (words.size() < 3 || word(0) != "damaged") return Witness{"open", "", "", ""};  // damaged itself
  return Witness{"damaged", "", word(1), line.substr(words[0].size() + words[1].size() + 2)};
}

Status write_witness(os::Disk& disk, const std::string& path, std::string_view line) {
  return os::replace_file(disk, witness_path(path), std::string(line) + "\n");
}

// "20261115T233141Z"
std::string compact(WallTime now) {
  std::string text = iso8601(now).substr(0, 19) + "Z";
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

// A database that has tables, but not ours, is somebody else's.
Status check_owner(Db& db) {
  const auto foreign =
      TRY(db.integer("SELECT count(*) > 0 AND count(*) FILTER (WHERE name = 'schema_migrations') = 0 FROM "
                     "sqlite_schema WHERE type = 'table'"));
  if (foreign.value_or(0) != 0) return Error{Code::corrupt, "it is a database that is not cairn's"};
  return {};
}

// SQLite takes a statement that creates a table for whatever it has become.
Result<std::string> schema_hash(Db& db) {
  const auto all = TRY(
      db.text("SELECT group_concat(type || name || tbl_name || coalesce(sql, ''), char(10) ORDER BY rowid) "
              "FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"));
  return content_hash(all.value_or(""));
}

// A store that is too large for it is looked at in part: every page before the indexes.
Status check_pages(os::Clock& clock, Db& db) {
  struct Patience {
    os::Clock& clock;
    std::int64_t until;
  } patience{clock, clock.boot_ns() + kLookNs};
  const auto enough = [](void* p) -> int {
    const auto* left = static_cast<Patience*>(p);
    return left->clock.boot_ns() > left->until;
  };
  const bool few = TRY(db.integer("PRAGMA page_count")).value_or(0) <= kFewPages;
  sqlite3_progress_handler(db.raw(), 1000, enough, &patience);
  Status sound = few ? Status() : db.integrity_check();
  if (sound) sound = db.integrity_check(true);
  sqlite3_progress_handler(db.raw(), 0, nullptr, nullptr);
  if (!sound && sound.error().code == Code::canceled) return {};
  return sound;
}

// Everything that transcripts can tell is asked of them again; each call counts once.
Status read_transcripts_again(Db& db) {
  return db.exec(
      "UPDATE sdk_sessions SET transcript_due = 1;"
      "INSERT OR IGNORE INTO transcripts(session_db_id, path, inode, read_to, prompt_id, lines, malformed, "
      "too_long) SELECT id, transcript_path, 0, 0, '', 0, 0, 0 FROM sdk_sessions "
      "WHERE transcript_path <> '';"
      "UPDATE transcripts SET inode = 0, read_to = 0, prompt_id = '', lines = 0, malformed = 0, too_long = 0;"
      "DELETE FROM transcript_calls WHERE outcome <> 'counted'");
}

Status tell(Db& db, std::string_view what, WallTime now) {
  constexpr std::string_view kPut =
      "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
  TRY(db.run(kPut, "damage", what));
  TRY(db.run(kPut, "damage_at", epoch_ms(now)));
  return db.run(
      "INSERT INTO meta(key, value) VALUES('damages', 1) ON CONFLICT DO UPDATE SET value = value + 1");
}

Status note_lost_wal(Db& db, std::string_view how, WallTime now, Log& log) {
  const std::string what = fmt::format(
      "the store's write-ahead log was {} at a start after an unclean end: what it held is taken from "
      "transcripts, the rest of it is lost",
      how);
  log.error(what);
  auto transaction = TRY(Transaction::begin(db));
  TRY(read_transcripts_again(db));
  TRY(tell(db, what, now));
  return transaction.commit();
}

// Whether it is about to be migrated: from then on its schema is another.
Result<bool> is_older(Db& db) {
  const auto version = TRY(db.integer("SELECT max(version) FROM schema_migrations"));
  return version.value_or(0) < schema().back().version;
}

// How the write-ahead log was lost; empty: it was not. SQLite removes it only at a clean end.
Result<std::string_view> look_at_wal(os::Disk& disk, const std::string& path, const Witness& witness) {
  const auto wal = disk.stat(path + "-wal");
  if (!wal && wal.error().code != Code::not_found) return wal.error();
  if (!wal) return std::string_view(witness.state == "open" ? "missing" : "");
  // What a daemon that died wrote is seen again, but perhaps neither it nor the log's name reached the disk.
  TRY(write_wal_again(disk, path + "-wal"));
  TRY(disk.sync_dir(parent_of(path)));
  return std::string_view(TRY(wal_is_damaged(disk, path + "-wal")) ? "damaged" : "");
}

Result<Db> open_checked(os::Disk& disk, os::Clock& clock, Db::Options options, const Witness& witness,
                        Log& log) {
  const auto stat = disk.stat(options.path);
  if (!stat && stat.error().code != Code::not_found) return stat.error();
  const bool empty = !stat || stat->size == 0;
  if (empty && !witness.state.empty())
    return Error{Code::corrupt, stat ? "its file is empty" : "its file is gone"};
  const std::string first = empty ? "" : TRY(read_first_page(disk, options.path));
  if (!empty) TRY(check_first_page(first));
  const std::string_view lost_wal = TRY(look_at_wal(disk, options.path, witness));
  options.check = check_owner;
  Db db = TRY(Db::open(options));
  db.keep_wal(true);  // should it be damaged, it stays as it is
  std::string hash = TRY(schema_hash(db));
  if (!witness.schema.empty() && witness.schema != hash)
    return Error{Code::corrupt, "its schema is not what it was"};
  TRY(check_pages(clock, db));
  if (!witness.schema.empty() && TRY(is_older(db))) TRY(write_witness(disk, options.path, "open"));
  const auto version = TRY(db.integer("PRAGMA schema_version"));
  TRY(migrate(db, schema(), clock.now()));
  if (TRY(db.integer("PRAGMA schema_version")) != version) hash = TRY(schema_hash(db));
  if (!lost_wal.empty()) TRY(note_lost_wal(db, lost_wal, clock.now(), log));
  db.keep_wal(false);
  // Only what was read with no log beside it is the newest.
  if (!empty && witness.state == "closed" && witness.schema == hash)
    ignore(keep_first_page(disk, options.path, first));
  // After the WAL's name is durable: one without the other would look like a loss. On a full disk we go
  // without.
  if ((witness.state != "open" || witness.schema != hash) && disk.sync_dir(parent_of(options.path)))
    ignore(write_witness(disk, options.path, "open " + hash));
  return db;
}

// The WAL goes first: it belongs to whatever has the name.
Status set_aside(os::Disk& disk, const std::string& path, const std::string& aside) {
  for (const char* part : {"-wal", ""}) {
    if (disk.stat(aside + part).ok()) continue;
    const auto moved = disk.rename(path + part, aside + part);
    if (!moved && moved.error().code != Code::not_found) return moved;
  }
  ignore(disk.remove(path + "-shm"));
  return disk.sync_dir(parent_of(path));
}

std::string sentence(const Witness& witness, const std::string& aside, const Salvaged& salvaged) {
  return fmt::format(
      "the store was damaged ({}) and was made anew: {} rows were saved, {} did not fit, {} places could not "
      "be read; transcripts are read again; the damaged one is {}",
      witness.reason, salvaged.kept, salvaged.refused, salvaged.gaps, aside);
}

Status remove_database(os::Disk& disk, const std::string& path) {
  for (const char* part : {"", "-wal", "-shm", "-journal"}) {
    const auto removed = disk.remove(path + part);
    if (!removed && removed.error().code != Code::not_found) return removed;
  }
  return {};
}

// A new database at `fresh` of what can be read of `from`.
Result<Salvaged> build_of(os::Disk& disk, const Db::Options& options, const std::string& from,
                          const std::string& fresh, WallTime now) {
  TRY(remove_database(disk, fresh));
  Db::Options to = options, source = options;
  to.path = fresh;
  source.path = from;
  Db db = TRY(Db::open(to));
  TRY(db.exec("PRAGMA synchronous=OFF"));
  const auto there = disk.stat(from);
  if (there && there->size > 0) return salvage(source, db, now);
  TRY(migrate(db, schema(), now));
  return Salvaged{.gaps = 1};
}

// Nothing is synced until it is complete: it has no name that counts before.
Status build(os::Disk& disk, const Db::Options& options, const Witness& witness, const std::string& aside,
             const std::string& fresh, WallTime now, Log& log) {
  const std::string copy = fresh + ".from";
  Salvaged salvaged = TRY(build_of(disk, options, aside, fresh, now));
  if (salvaged.kept == 0 && disk.stat(aside).ok() &&
      TRY(copy_with_first_page(disk, options.path, aside, copy)))
    salvaged = TRY(build_of(disk, options, copy, fresh, now));
  TRY(remove_database(disk, copy));
  {
    Db::Options to = options;
    to.path = fresh;
    Db db = TRY(Db::open(to));
    TRY(db.exec("PRAGMA synchronous=OFF"));
    const std::string told = sentence(witness, aside, salvaged);
    {
      auto transaction = TRY(Transaction::begin(db));
      TRY(read_transcripts_again(db));
      TRY(tell(db, told, now));
      TRY(transaction.commit());
    }
    TRY(db.integrity_check());
    TRY(db.checkpoint(true));
    log.error(told);
  }
  ignore(disk.remove(fresh + "-wal"));  // empty, should the close have left it
  auto file = TRY(disk.open(fresh, os::Open::read_write));
  return file->sync();
}

Status rebuild(os::Disk& disk, const Db::Options& options, const Witness& witness, WallTime now, Log& log) {
  const std::string& path = options.path;
  const std::string aside = aside_path(path, witness.time), fresh = path + ".new";
  if (!disk.stat(aside).ok() || !disk.stat(path).ok()) {  // else only the witness is missing
    log.error("the store is damaged: " + witness.reason + ": saving what can be read");
    TRY(set_aside(disk, path, aside));
    TRY(build(disk, options, witness, aside, fresh, now, log));
    TRY(disk.rename(fresh, path));
    TRY(disk.sync_dir(parent_of(path)));
  }
  return write_witness(disk, path, "closed");
}

}  // namespace

Result<Db> open_sound(os::Disk& disk, os::Clock& clock, const Db::Options& options, Log& log) {
  Witness witness = TRY(read_witness(disk, options.path));
  if (witness.state != "damaged") {
    auto opened = open_checked(disk, clock, options, witness, log);
    if (opened || opened.error().code != Code::corrupt) return opened;
    TRY(note_damage(disk, options.path, opened.error().message, clock.now()));
    witness = TRY(read_witness(disk, options.path));
  }
  TRY(rebuild(disk, options, witness, clock.now(), log).in("making the damaged store anew"));
  return open_checked(disk, clock, options, {"closed", "", "", ""}, log);
}

// A WAL that were gone without the note would look like a loss.
void closing(os::Disk& disk, Db& db, const std::string& path) {
  const auto noted = [&]() -> Status {
    const Witness witness = TRY(read_witness(disk, path));
    if (witness.state == "damaged") return Error{Code::corrupt, witness.reason};
    return write_witness(disk, path,
                         "closed " + (witness.schema.empty() ? TRY(schema_hash(db)) : witness.schema));
  }();
  if (!noted) db.keep_wal(true);
}

Status note_damage(os::Disk& disk, const std::string& path, std::string_view what, WallTime now) {
  while (disk.stat(aside_path(path, compact(now))).ok()) now += std::chrono::seconds(1);
  return write_witness(disk, path, "damaged " + compact(now) + " " + one_line(visible(what), 300));
}

Result<std::optional<std::string>> damage_told(Db& db, WallTime now) {
  return db.text(
      "SELECT value FROM meta WHERE key = 'damage' AND (SELECT CAST(value AS INTEGER) FROM meta WHERE key = "
      "'damage_at') > ?",
      epoch_ms(now - kTold));
}

}  // namespace cairn::store
