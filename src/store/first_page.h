// The first page of the database. SQLite cannot read anything without it, so it is checked before anything
// else, a copy is kept beside the store (`cairn.db.first`), and the copy repairs a store whose first page is
// damaged.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::store {

// Reads the page, or less when the file is shorter. Call while this process does not have the database open:
// closing a descriptor would drop the process's locks on the file.
Result<std::string> read_first_page(os::Disk& disk, const std::string& path);

// Fails with `corrupt` when SQLite would never write such a page.
Status check_first_page(std::string_view page);

// Keeps a page that is known to be good, for the database at `path`. Writes only when it changed.
Status keep_first_page(os::Disk& disk, const std::string& path, std::string_view page);

// Copies the damaged database and its log to `copy`, with a repaired first page: the one kept for `path`,
// else one with the constants that all our databases share. False, and no copy, when that cannot help: the
// page is not damaged, or differs so much that it is another program's file.
Result<bool> copy_with_first_page(os::Disk& disk, const std::string& path, const std::string& damaged,
                                  const std::string& copy);

}  // namespace cairn::store
