// Events that hooks could not write: how many, of which sessions, and whose transcripts must still be
// searched.
//
// All functions run in the caller's transaction, on the writer's connection.
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

// Sessions with events that could not be written, and the time of the oldest.
struct Lost {
  WallTime since;
  std::map<std::string, std::int64_t> events;  // by the host's id of their session
};
Result<std::optional<Lost>> find_lost(Db& db);
// Adds lost events.
Status add_lost(Db& db, const Lost& more);
// The session was found: its events count as recovered.
Status set_found(Db& db, const std::string& session);
// Counts more events that could not be written.
Status count_failed(Db& db, std::int64_t more);
// Counts events that were recovered from transcripts.
Status count_recovered(Db& db, std::int64_t more);
// The number of events that are not recovered yet.
Result<std::int64_t> count_missing(Db& db);
// Which part of `name`, a file with the failed deliveries of hooks, was counted last, so that no line counts
// twice; empty: none.
Result<std::string> counted_of_note(Db& db, const std::string& name);
Status set_counted_of_note(Db& db, const std::string& name, const std::string& mark);
// Ends the search for all lost events if the oldest of them was lost before `time`.
Status give_up_lost(Db& db, WallTime time);

// Directories with transcripts of known sessions, and the host that writes there.
struct TranscriptFolder {
  std::string path;
  std::string platform;
};
Result<std::vector<TranscriptFolder>> transcript_folders(Db& db);

// The session's transcripts are read again, whatever its status.
Status set_transcript_due(Db& db, SessionId session);

}  // namespace cairn::store
