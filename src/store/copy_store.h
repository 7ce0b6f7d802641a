// Copies the whole store while it is in use, and restores such a copy.
//
// Copying the file is not enough: the last commits may be only in the WAL.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

// Writes a consistent copy to `path`, which must not exist: one file, without WAL.
Status write_copy(Db& db, const std::string& path);

// Reads all of a copy and checks it. Fails with `corrupt`.
Status check_copy(const std::string& path);

// Replaces the content of the store by that of a copy, in one transaction, and upgrades its schema.
// Afterwards every object that read the store before must be made again.
Status restore_copy(Db& db, const std::string& path, WallTime now);

}  // namespace cairn::store
