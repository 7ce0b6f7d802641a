// The first page of the database, on which all others hang: checked before anything else is read, kept beside
// the store (`cairn.db.first`), and put back into a copy of a store in which it is damaged.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::store {

// As much of it as the file has. Call while nobody has the database open: the locks of a process go with any
// descriptor that it closes.
Result<std::string> read_first_page(os::Disk& disk, const std::string& path);

// Fails with `corrupt` when it cannot be that of a database that SQLite would write.
Status check_first_page(std::string_view page);

// Keeps a page that is known to be sound beside the database at `path`. Writes only when it says something
// new.
Status keep_first_page(os::Disk& disk, const std::string& path, std::string_view page);

// Copies the damaged database, and its log, to `copy` with a first page that is mended: by the one that was
// kept for `path`, else by what is the same in all of ours. False, and no copy, when that cannot help: it is
// as it should be, or somebody else's.
Result<bool> copy_with_first_page(os::Disk& disk, const std::string& path, const std::string& damaged,
                                  const std::string& copy);

}  // namespace cairn::store
