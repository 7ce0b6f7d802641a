// Private copies of other programs' files, so that the originals are only read, and may change or go while
// their contents are imported.
#pragma once

#include <string>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::importer {

// Copies the SQLite database at `from` to `to`, with the log of changes that stands beside it. Copies again
// when a program wrote to it meanwhile; fails with `busy` when that does not end.
Status copy_database(os::Disk& disk, const std::string& from, const std::string& to);

// Removes such a copy, as far as it is there.
void remove_database(os::Disk& disk, const std::string& path);

// Whether the file begins as a SQLite database does.
Result<bool> is_database(os::Disk& disk, const std::string& path);

}  // namespace cairn::importer
