// A write-ahead log seen from outside: whether transactions in it are cut off by damage, and whether they are
// on the disk.
//
// SQLite passes over everything behind the first frame that does not check, and says nothing: after a power
// cut that is right, because the last transaction may be half written. Damage before it is not.
#pragma once

#include <string>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::store {

// Whether a frame of the log at `path` is damaged and a transaction that was synced stands at or behind it.
// Damage within the last transaction cannot be told from a write that was cut short. No log is a sound one.
// Call while nobody has it open.
Result<bool> wal_is_damaged(os::Disk& disk, const std::string& path);

// Makes durable what the log at `path` holds, by writing all of it once more: what a sync that failed has
// lost can still be read, is taken for clean, and no later sync would write it. Without this, older frames
// could return after a power cut and cover pages that were moved into the database since. Takes as long as
// writing the log does. Call while nobody writes it.
Status write_wal_again(os::Disk& disk, const std::string& path);

}  // namespace cairn::store
