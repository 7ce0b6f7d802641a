// Imports sessions that ended before cairn was installed, from their transcripts.
//
// A search of the disk puts transcripts into a list in the store. When the daemon has nothing else to do, it
// archives the newest of the list, then reads it in the same way as it recovers lost events: through the same
// gate, turns and distiller, with the times of its lines. An interrupted import continues where it stopped; a
// repeated one finds nothing new.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "intake/catch_up.h"
#include "os/clock.h"
#include "os/disk.h"
#include "store/imports.h"
#include "store/sql.h"

namespace cairn::importer {

// What a search found.
struct FoundTranscripts {
  std::vector<std::string> folders;
  std::int64_t sessions = 0, bytes = 0;  // that are new
  std::int64_t pending = 0;              // found by an earlier search and not read yet
  std::int64_t known = 0;
  std::map<std::string, std::int64_t> left_out;  // by the reason
  std::optional<WallTime> oldest, newest;        // of the new ones
  std::set<std::string> transcripts;             // the sessions of all that are there
};

// Where to search: in `folder`, or, when that is empty, where the hosts keep transcripts. `configuration` is
// the host's configuration directory that the user's environment names.
struct Places {
  std::string folder, configuration;
  std::string host;  // only this one's; empty: of all
  // Whether the user forgot that session of that platform; may be empty.
  std::function<bool(std::string_view platform, std::string_view session)> is_forgotten = nullptr;
};

// Searches for transcripts. New ones are put into the list, unless `dry_run`.
Result<FoundTranscripts> find_transcripts(store::Db& db, os::Disk& disk, os::Clock& clock,
                                          const Places& places, bool dry_run);

// Belongs to the writer's thread.
class TranscriptImport {
 public:
  TranscriptImport(store::Db& db, os::Disk& disk, os::Clock& clock, intake::CatchUp& catch_up, Log& log)
      : db_(db), disk_(disk), clock_(clock), catch_up_(catch_up), log_(log) {}

  // Call when no transcript is left to read: requests a backup of the next of the list, and begins to read it
  // when the backup is made. False: nothing to do now.
  Result<bool> step();

 private:
  // False: it is archived, or the archive leaves it out.
  Result<bool> archive_first(const store::TranscriptToImport& next);
  Result<bool> expire_texts();

  store::Db& db_;
  os::Disk& disk_;
  os::Clock& clock_;
  intake::CatchUp& catch_up_;
  Log& log_;
  bool has_evidence_ = true;  // there may be evidence that the archive has too
  std::string asked_;         // the transcript of which a backup was requested last
};

}  // namespace cairn::importer
