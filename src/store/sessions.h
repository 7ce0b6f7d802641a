// Sessions: the conversations of the coding agent (the host), found by the host's own id, the content id.
// Their other id, the memory id, is in identity.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "os/process.h"
#include "store/identity.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Session {
  SessionId id;
  std::string platform;
  ContentId content_id;
  Identity identity;  // its memory id, if it is captured
  std::string project;
  std::optional<std::string> branch;
  std::optional<std::string> worktree;
  std::string cwd;
  std::string transcript_path;
  std::string user_prompt;
  std::int64_t prompt_count = 0;
  os::ProcessKey host;
  std::string host_boot_id;
  WallTime started_at;
  WallTime last_event_at;
  std::optional<WallTime> completed_at;
  std::optional<WallTime> captured_at;  // when it got its memory id
  SessionStatus status = SessionStatus::active;
  std::optional<std::string> end_reason;
  bool imported = false;  // imported from its transcript, not recorded by hooks
};

struct NewSession {
  std::string platform;
  ContentId content_id;
  std::string project;
  std::optional<std::string> branch;
  std::optional<std::string> worktree;
  std::string cwd;
  WallTime started_at;
};

// A unique text for a session, for use in hashes and names: PLATFORM:ID, because two hosts may give the same
// content id. Ids of the default host have no prefix: older stores, with that host alone, have such keys.
std::string key_of(const std::string& platform, const ContentId& id);

// All within the caller's transaction, on the writer's connection.
Result<std::optional<Session>> find_session(Db& db, const std::string& platform, const ContentId& id);
Result<std::optional<Session>> find_session(Db& db, SessionId id);
// The host of a session with that content id; nothing when there is none.
Result<std::optional<std::string>> platform_of(Db& db, const std::string& content_id);
Result<Session> create_session(Db& db, const NewSession& session);
// Whether `id` is the memory id of some session: an event that carries it is our own agent's.
Result<bool> is_memory_id(Db& db, const ContentId& id);

// What every event says about its session; empty values change nothing. The transcript becomes due for
// reading too: the host may have written to it.
struct SessionUpdate {
  WallTime at;
  std::string cwd;
  std::string transcript_path;
  os::ProcessKey host;
  std::string boot_id;
};
Status touch_session(Db& db, SessionId id, const SessionUpdate& seen);

Status set_imported(Db& db, SessionId id, bool imported);
Status set_branch(Db& db, SessionId id, const std::optional<std::string>& branch);
// Hides the session from all lists. For the session that holds what a person or an agent stored by hand; it
// has no transcript.
Status hide_session(Db& db, SessionId id);
// Ends the session, and sets its status as update_status() does.
Status end_session(Db& db, SessionId id, std::string_view reason, WallTime at);
// An ended session is `failed` when its last turn was left unanswered, else `completed`.
Status update_status(Db& db, SessionId id);
// Sets the status `failed`, whatever its last turn was.
Status mark_failed(Db& db, SessionId id);
Status reopen_session(Db& db, SessionId id);

Result<std::vector<Session>> active_sessions(Db& db);
// The session with that number or content id; else at most two sessions whose content id begins with `name`,
// which must have at least four characters.
Result<std::vector<Session>> sessions_named(Db& db, const std::string& name);
// The visible sessions of a project, or of all, the last active first.
Result<std::vector<Session>> list_sessions(Db& db, const std::optional<std::string>& project,
                                           std::int64_t limit);
// The hidden sessions of a project: what people and agents stored by hand.
Result<std::vector<Session>> sessions_by_hand(Db& db, const std::string& project);
// The last active sessions of a project, newest first.
Result<std::vector<Session>> latest_sessions(Db& db, const std::string& project, std::size_t limit);

}  // namespace cairn::store
