// Finds the command for a task in a project, among the commands that agents ran: by the words of the command
// and of its purpose. Commands whose last run worked come first.
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

// The archive. It has the texts of calls that the store no longer has: of imported sessions, and of sessions
// whose evidence was removed.
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
