// Makes private copies of other programs' files. The originals are only read, and may change or disappear
// while their contents are imported.
#pragma once

#include <string>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::importer {

// Copies the SQLite database at `from` to `to`, with its write-ahead log. Copies again when a program wrote
// to it meanwhile; fails with `busy` when that happens too often.
Status copy_database(os::Disk& disk, const std::string& from, const std::string& to);

// Removes such a copy, if it exists.
void remove_database(os::Disk& disk, const std::string& path);

// Whether the file begins like a SQLite database.
Result<bool> is_database(os::Disk& disk, const std::string& path);

}  // namespace cairn::importer
