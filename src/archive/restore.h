// Writes a version of a transcript to a file, for a person or for the host.
#pragma once

#include <cstdint>
#include <string>

#include "archive/copy.h"
#include "base/result.h"
#include "store/archive.h"

namespace cairn::archive {

struct Restored {
  std::string path;
  std::int64_t lines = 0, bytes = 0;
  std::int64_t lost = 0;   // lines that could not be saved
  bool was_there = false;  // the file existed and already had these lines
};

// Writes the version to `path`, whole or not at all, with mode 0600. A file that is there is never
// overwritten: when it begins with the same text there is nothing to do, else this fails with `invalid`.
// A damaged backup fails with `corrupt`; `salvage` writes the lines that can be read and are records.
Result<Restored> restore(store::Db& db, os::Disk& disk, const Places& places, const store::Backup& backup,
                         const std::string& path, bool salvage);

}  // namespace cairn::archive
