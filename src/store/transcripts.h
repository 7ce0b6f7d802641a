// The transcripts' side of the ledger: how far each one was read, what became of each tool call in it, and
// when capture was off.
//
// All within the caller's transaction, on the writer's connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/sql.h"

namespace cairn::store {

// Sessions whose transcripts are to be looked at: the active ones, or those that ended and are not settled
// yet.
Result<std::vector<SessionId>> sessions_to_read(Db& db, bool active);
// The same, ended ones of one project.
Result<std::vector<SessionId>> sessions_to_read(Db& db, const std::string& project);
// Nothing more is to be read until the session's status changes.
Status set_transcript_read(Db& db, SessionId session);

// The transcripts of a session: a host that changes its directory goes on in another file. The first 16
// count.
Status note_transcript(Db& db, SessionId session, const std::string& path);
Result<std::vector<std::string>> transcripts_of(Db& db, SessionId session);

// How far a transcript was read. Everything before `offset` is settled.
struct TranscriptProgress {
  std::string path;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::string prompt_id;  // of the line at `offset`
  std::string mark;       // what stands before `offset`; another file with the same name has another
  std::int64_t lines = 0, malformed = 0, too_long = 0;
};
Result<std::optional<TranscriptProgress>> find_progress(Db& db, SessionId session, const std::string& path);
Status put_progress(Db& db, SessionId session, const TranscriptProgress& progress);

// What became of a tool call in a transcript: `stored` (a hook's event is there), `recovered` (taken from
// here), `counted` (a reason says why not), `waiting` (neither yet). Empty: not seen.
Result<std::string> call_outcome(Db& db, SessionId session, const std::string& tool_use_id);
Status note_call(Db& db, SessionId session, const std::string& tool_use_id, std::string_view outcome,
                 std::string_view reason, WallTime at);

// Calls of the session that still wait will wait in vain: its transcripts were read to the end, and their
// lines are gone from there.
Status give_up_calls(Db& db, SessionId session);

// What the store has of a tool use.
struct ToolRows {
  bool start = false;
  bool end = false;
};
Result<ToolRows> tool_rows(Db& db, SessionId session, const std::string& tool_use_id);

// Whether another session of the project has this tool use or this prompt: a fork begins with a copy of its
// parent's lines.
Result<bool> is_inherited(Db& db, SessionId session, const std::string& project,
                          const std::string& tool_use_id, const std::string& prompt_id);

// Before this time a transcript's lines are history, not what we were asked to watch; nothing when that was
// not settled yet.
Result<std::optional<WallTime>> watched_since(Db& db, SessionId session);
Status set_watched_since(Db& db, SessionId session, WallTime at);

// Notes that hook.flags, as they stand since `changed`, let hooks deliver or not. At the daemon's `start` a
// change that nobody saw counts as a pause since the last event, which proves that capture was on then.
Status note_capture(Db& db, bool on, WallTime changed, bool start);
// Whether capture was off at some time of [from, until].
Result<bool> capture_was_off(Db& db, WallTime from, WallTime until);

}  // namespace cairn::store
