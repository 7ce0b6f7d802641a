// A write-ahead log seen from outside: whether transactions in it are cut off by damage.
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

}  // namespace cairn::store
