// Rows without their files, and files without rows.
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
    leftover,      // of a copy that did not end
  };
  Kind kind = Kind::missing;
  std::string file;  // below the archive's directory
  std::string what;
  std::int64_t base = 0, segment = 0;  // missing
};
std::string_view defect_name(Defect::Kind kind);

// Looks at names and sizes; the bytes are verify's.
Result<std::vector<Defect>> find_defects(store::Db& db, os::Disk& disk, const Places& places);

// Fixes what it can, each in a transaction of its own: versions whose file is gone are dropped and, where the
// transcript is still there, requested again; files that can be read are registered; leftovers are removed.
// A file that is none of the archive's is left alone. Gives what was done, in order of `defects`.
Result<std::vector<std::string>> fix_defects(store::Db& db, os::Disk& disk, const Places& places,
                                             const std::vector<Defect>& defects, WallTime now);

}  // namespace cairn::archive
