// Which command does something in a project: the commands that agents ran, by their words and by what they
// were run for, those that worked last first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/disk.h"
#include "recall/record.h"
#include "store/sql.h"

namespace cairn::recall {

struct KnownCommand {
  std::string command;  // as it was run
  std::string purpose;  // in the agent's words; may be empty
  RecordId record;      // its last run that passed
  std::string project;
  WallTime at;              // of that run
  std::int64_t passed = 0;  // of the runs that were looked at
  std::int64_t failed = 0;
  double score = 0;
};

// Where the texts of calls are that the store does not have: of imported sessions, and of those whose
// evidence was removed.
struct Archive {
  os::Disk& disk;
  std::string directory;
};

// The commands in these projects (none: in all) that do what `words` say, best first. Only commands that
// passed at least once; one whose last run failed comes after those that worked. Looks at the newest calls,
// a bounded number; when they give too few and there is an archive, also at a few transcripts.
Result<std::vector<KnownCommand>> find_commands(store::Db& db, const std::vector<std::string>& projects,
                                                std::string_view words, WallTime now, std::size_t limit,
                                                const Archive* archive = nullptr);

}  // namespace cairn::recall
