// The daemon's way to its store: checked when it is opened, made anew when it is damaged.
//
// Beside the database stands a witness, `cairn.db.state`, that says how it was left: `closed`, `open`, or
// `damaged` from the moment damage was seen until a new store has taken the place. A damaged one is renamed
// to `cairn.db.damaged-TIME`, with its WAL, and never written again; a new one is made beside it of what can
// be salvaged and takes its name when it is complete. Dying at any moment leaves the one or the other; the
// next start goes on. Transcripts are read again, and the user is told.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::store {

// Opens the store for the daemon, with the newest schema; all that can be read in it is on the disk. Damage
// is looked for in the header, the schema and, for a limited time, every page; what that misses is found when
// it is read (Db::damage). Call only under the home's lock. Fails with `unsupported` on a database of a newer
// cairn, which is left untouched.
Result<Db> open_sound(os::Disk& disk, os::Clock& clock, const Db::Options& options, Log& log);

// To be called before the connection is closed: notes a clean end.
void closing(os::Disk& disk, Db& db, const std::string& path);

// Notes damage that was met at work: the next start makes the store anew.
Status note_damage(os::Disk& disk, const std::string& path, std::string_view what, WallTime now);

// What became of the last damage, as one sentence; nothing when there was none in the last two weeks.
Result<std::optional<std::string>> damage_told(Db& db, WallTime now);

}  // namespace cairn::store
