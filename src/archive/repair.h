// Finds and fixes rows of the archive without a file, and files without a row.
#pragma once

#include <string>
#include <vector>

#include "archive/copy.h"
#include "base/result.h"
#include "store/archive.h"

namespace cairn::archive {

struct Defect {
  enum class Kind {
    missing,       // a row's file is not there, or has another size
    unregistered,  // a file that no row names and that can be registered
    foreign,       // a file that no row names and that cannot be read
    leftover,      // a temporary file of an interrupted copy
  };
  Kind kind = Kind::missing;
  std::string file;  // below the archive's directory
  std::string what;
  std::int64_t base = 0, segment = 0;  // missing
};
std::string_view defect_name(Defect::Kind kind);

// Compares names and sizes only. verify.h checks the bytes.
Result<std::vector<Defect>> find_defects(store::Db& db, os::Disk& disk, const Places& places);

// Fixes what it can, each in a transaction of its own: versions whose file is gone are dropped and, where the
// transcript is still there, requested again; files that can be read are registered; leftovers are removed.
// Files that are not the archive's are left alone. Returns what was done, in the order of `defects`.
Result<std::vector<std::string>> fix_defects(store::Db& db, os::Disk& disk, const Places& places,
                                             const std::vector<Defect>& defects, WallTime now);

}  // namespace cairn::archive
