// Opens the daemon's store: checks it, and rebuilds it when it is damaged.
//
// The file `cairn.db.state` beside the database says how it was left: `closed`, `open`, or `damaged` (from
// the first sign of damage until a rebuilt store has replaced it). A damaged database is renamed to
// `cairn.db.damaged-TIME`, with its WAL, and never written again. The rows that can still be read are copied
// into a new database, which takes the name `cairn.db` when it is complete. A crash at any moment leaves one
// of the two, and the next start continues. Transcripts are read again, and the user gets a warning.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::store {

// Opens the store with the newest schema. Everything that can be read in it is durable. Looks for damage in
// the header, the schema and, in a small store and within a time limit, every page. For a large store call
// check_pages() when no session waits. Damage that this misses is noticed when it is read (Db::damage). Call
// only under the home's lock. Fails with `unsupported` on a database of a newer cairn, and leaves it
// untouched.
Result<Db> open_store(os::Disk& disk, os::Clock& clock, const Db::Options& options, Log& log);

// Whether open_store() checked every page of it.
Result<bool> is_small(Db& db);

// Checks as much as `time` allows, or until `stopping` (may be null) is true. Fails with `corrupt`. On any
// connection that is in no transaction.
Status check_pages(os::Clock& clock, Db& db, Millis time, const std::atomic<bool>* stopping);

// Records a clean end. Call before the connection is closed.
void note_clean_close(os::Disk& disk, Db& db, const std::string& path);

// Records damage that was found while running: the next start rebuilds the store.
Status note_damage(os::Disk& disk, const std::string& path, std::string_view what, WallTime now);

// One sentence about the last damage and its repair; nothing when there was none in the last two weeks.
Result<std::optional<std::string>> recent_damage(Db& db, WallTime now);

}  // namespace cairn::store
