// Evidence: the texts of events, compressed, equal texts stored once. While a message is in the queue its
// texts are in the queue's row; when it is done they move here. turn_events() reads both places, so that a
// turn can be distilled again at any time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "event/event.h"
#include "store/sql.h"

namespace cairn::store {

struct Texts {
  std::optional<std::string> input;
  std::optional<std::string> response;
  std::optional<std::string> extra;
};

Status keep_evidence(Db& db, std::int64_t event_seq, SessionId session, const Texts& texts, WallTime at);

// Makes the stored end of a tool call a failure with that response: the host's hook did not say so. Returns
// its turn; nothing when no such end is stored, or it is a failure already.
Result<std::optional<std::int64_t>> correct_to_failure(Db& db, SessionId session,
                                                       const std::string& tool_use_id,
                                                       const std::string& response);

// Deletes the texts of an event, except those that another event shares.
Status delete_evidence(Db& db, std::int64_t event_seq);

struct KeptEvent {
  std::int64_t seq = 0;
  EventId id;
  SessionId session;
  std::int64_t prompt_number = 0;
  std::string source;  // hook or transcript
  std::string name;
  event::Kind kind = event::Kind::other;
  std::string tool_name;
  std::string tool_use_id;
  std::string agent_type;
  Texts texts;
  WallTime at;
};

// Gives the stored events of a turn to `take`, in order, with their texts, one at a time.
Status for_each_turn_event(Db& db, SessionId session, std::int64_t prompt_number,
                           const std::function<void(const KeptEvent&)>& take);
// The same from the first event after number `after` on, until `take` says false.
Status for_each_turn_event_after(Db& db, SessionId session, std::int64_t prompt_number, std::int64_t after,
                                 const std::function<bool(const KeptEvent&)>& take);
// All of them at once.
Result<std::vector<KeptEvent>> turn_events(Db& db, SessionId session, std::int64_t prompt_number);
// Whether the turn has events for the queue (ends of calls and of the turn) with a number above `after` and
// below `before`.
Result<bool> has_work_between(Db& db, SessionId session, std::int64_t prompt_number, std::int64_t after,
                              std::int64_t before);
// When the last such event of the turn below `before` happened; nothing: there is none.
Result<std::optional<WallTime>> last_work_before(Db& db, SessionId session, std::int64_t prompt_number,
                                                 std::int64_t before);
// The session's last tool calls that ended, oldest first, at most `limit`.
Result<std::vector<KeptEvent>> last_calls(Db& db, SessionId session, std::size_t limit);
// One event; nothing when it is unknown or was only counted.
Result<std::optional<KeptEvent>> kept_event(Db& db, std::int64_t seq);

}  // namespace cairn::store
