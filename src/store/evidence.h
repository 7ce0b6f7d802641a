// Evidence: the texts of events, stored once, from the moment the event is stored: compressed, equal texts of
// a session only once. A message of the queue has its event's texts here, so that its row stays small however
// often its state changes, and a turn can be distilled again at any time.
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

// What the search index of tool calls has of an event.
enum class Indexed {
  not_yet,  // to be indexed
  yes,
  nothing,  // it has no text that a search could find
  waits,    // its message is in the queue: it is indexed with the others of its turn
};

Status keep_evidence(Db& db, std::int64_t event_seq, SessionId session, const Texts& texts, WallTime at,
                     Indexed indexed = Indexed::not_yet);

// Makes the stored end of a tool call a failure with that response: the host's hook did not say so. Returns
// its turn; nothing when no such end is stored, or it is a failure already.
Result<std::optional<std::int64_t>> correct_to_failure(Db& db, SessionId session,
                                                       const std::string& tool_use_id,
                                                       const std::string& response);

// Deletes the texts of an event, except those that another event shares.
Status delete_evidence(Db& db, std::int64_t event_seq);
// Puts another text in the place of a payload's, for all events that share it. Their calls are indexed again.
Status replace_payload(Db& db, std::int64_t payload, const std::string& text);

struct KeptEvent {
  std::int64_t seq = 0;
  EventId id;
  SessionId session;
  std::int64_t prompt_number = 0;
  event::Source source = event::Source::hook;
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
