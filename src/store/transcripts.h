// What catch-up knows about transcripts: how far each one was read, the outcome of each tool call in it, and
// when capture was off.
//
// All functions run in the caller's transaction, on the writer's connection.
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
#include "store/states.h"

namespace cairn::store {

// Sessions whose transcripts are due for reading: the active ones, or those that ended and were not read to
// the end yet.
Result<std::vector<SessionId>> sessions_to_read(Db& db, bool active);
// The same, only ended sessions of one project.
Result<std::vector<SessionId>> sessions_to_read(Db& db, const std::string& project);
// Nothing is due until the next event of the session.
Status set_transcript_read(Db& db, SessionId session);

// The transcripts of a session: a host that changes its directory continues in another file. Only the first
// 16 are kept.
Status note_transcript(Db& db, SessionId session, const std::string& path);
Result<std::vector<std::string>> transcripts_of(Db& db, SessionId session);

// How far a transcript was read. Every line before `offset` has its outcome.
struct TranscriptProgress {
  std::string path;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::string prompt_id;  // of the line at `offset`
  std::string mark;       // what precedes `offset`, to notice another file with the same name
  std::int64_t lines = 0, malformed = 0, too_long = 0;
};
Result<std::optional<TranscriptProgress>> find_progress(Db& db, SessionId session, const std::string& path);
// The progress of all transcripts of the session, including those of subagents.
Result<std::vector<TranscriptProgress>> all_progress(Db& db, SessionId session);
Status put_progress(Db& db, SessionId session, const TranscriptProgress& progress);

// The outcome of a tool call in a transcript; nothing: not seen. `reason`: why it is only counted.
Result<std::optional<CallOutcome>> call_outcome(Db& db, SessionId session, const std::string& tool_use_id);
Status note_call(Db& db, SessionId session, const std::string& tool_use_id, CallOutcome outcome,
                 std::string_view reason, WallTime at);

struct CallCounts {
  Counts by_outcome, by_reason;
};
Result<CallCounts> count_calls(Db& db, SessionId session);

// Ends the waiting calls of a session: its transcripts were read to the end, and the calls' lines are no
// longer there.
Status give_up_calls(Db& db, SessionId session);

// Which events of a tool use are stored.
struct ToolRows {
  bool start = false;
  bool end = false;
};
Result<ToolRows> tool_rows(Db& db, SessionId session, const std::string& tool_use_id);

// Whether another session of the project has this tool use or this prompt: the transcript of a forked session
// begins with a copy of its parent's lines.
Result<bool> is_inherited(Db& db, SessionId session, const std::string& project,
                          const std::string& tool_use_id, const std::string& prompt_id);

// Lines of the transcript before this time are older than our capture and are not stored. Empty: not decided
// yet.
Result<std::optional<WallTime>> watched_since(Db& db, SessionId session);
Status set_watched_since(Db& db, SessionId session, WallTime at);

// Records that hook.flags, last changed at `changed`, switch capture on or off. `start`: the daemon just
// started and did not see the change happen. Then capture counts as off since the last event, which proves
// that it was on until then.
Status note_capture(Db& db, bool on, WallTime changed, bool start);
// Whether capture was off at any time in [from, until].
Result<bool> capture_was_off(Db& db, WallTime from, WallTime until);

}  // namespace cairn::store
