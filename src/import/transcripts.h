// Sessions that ended before cairn was there: their transcripts become sessions like others.
//
// A search of the disk puts them into the store's list, and whenever the daemon has nothing else to do the
// newest of the list is read as if its hooks had just been lost: through the same gate, turns and distiller,
// with the times of its lines. Interrupted, it goes on where it was; repeated, it finds nothing new.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "intake/catch_up.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/sql.h"

namespace cairn::importer {

// What a search found.
struct Found {
  std::vector<std::string> folders;
  std::int64_t sessions = 0, bytes = 0;  // that are new
  std::int64_t pending = 0;              // that an earlier search found, and that are not read yet
  std::int64_t known = 0;
  std::map<std::string, std::int64_t> left_out;  // by the reason
  std::optional<WallTime> oldest, newest;        // of the new ones
};

// Looks for transcripts in `folder`, or where the hosts keep them when it is empty. Those that are new are
// put into the list, unless `dry_run`.
Result<Found> find_transcripts(store::Db& db, os::Disk& disk, os::Clock& clock, const std::string& folder,
                               bool dry_run);

// Belongs to the writer's thread.
class TranscriptImport {
 public:
  TranscriptImport(store::Db& db, intake::CatchUp& catch_up, Log& log)
      : db_(db), catch_up_(catch_up), log_(log) {}

  // To be called when nothing is to be read: begins with the next of the list. False: the list is empty.
  Result<bool> step();

 private:
  store::Db& db_;
  intake::CatchUp& catch_up_;
  Log& log_;
};

}  // namespace cairn::importer
