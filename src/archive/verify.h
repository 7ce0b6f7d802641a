// Checks a backup or a transcript: every byte must be as it was stored, and every line a record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/copy.h"
#include "base/result.h"
#include "store/archive.h"

namespace cairn::archive {

struct BackupProblem {
  std::int64_t line = 0;    // 0: of a whole file
  std::int64_t column = 0;  // 0: of the whole line, or of several
  std::string what;
};

struct Verified {
  std::int64_t lines = 0, bytes = 0;
  std::string sha256;  // of the text that was read
  std::int64_t malformed = 0;
  bool damaged = false;                 // bytes are not what was stored
  std::vector<BackupProblem> problems;  // the first hundred
  bool ok() const { return problems.empty(); }
};

Result<Verified> verify_backup(store::Db& db, os::Disk& disk, const Places& places,
                               const store::Backup& backup);
// A transcript outside of the archive. A last line without its line feed is a problem too.
Result<Verified> verify_file(os::Disk& disk, const std::string& path);

}  // namespace cairn::archive
