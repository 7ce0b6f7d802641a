// Events that hooks could not write: how many, of which sessions, and which of those sessions are still to be
// found in their transcripts.
//
// All within the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

// Sessions with events that could not be written, since the oldest of these.
struct Lost {
  WallTime since;
  std::map<std::string, std::int64_t> events;  // by the host's id of their session
};
Result<std::optional<Lost>> find_lost(Db& db);
// Adds to what is lost.
Status add_lost(Db& db, const Lost& more);
// The session was found: its events count as recovered.
Status set_found(Db& db, const std::string& session);
// So many more events could not be written.
Status count_failed(Db& db, std::int64_t more);
// So many of them came from transcripts after all.
Status count_recovered(Db& db, std::int64_t more);
// How many of them have not come.
Result<std::int64_t> count_missing(Db& db);
// What was counted last of the hooks' note called `name`, so that nothing counts twice; empty: nothing.
Result<std::string> counted_of_note(Db& db, const std::string& name);
Status set_counted_of_note(Db& db, const std::string& name, const std::string& mark);
// What was lost before `time` is not looked for any more.
Status give_up_lost(Db& db, WallTime time);

// Directories with transcripts of known sessions, and the host that writes there.
struct TranscriptFolder {
  std::string path;
  std::string platform;
};
Result<std::vector<TranscriptFolder>> transcript_folders(Db& db);

// Whatever its status, the session's transcripts are to be looked at again.
Status set_transcript_due(Db& db, SessionId session);

}  // namespace cairn::store
