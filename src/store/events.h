// The ledger of events: one row for each delivered event, with its outcome (stored, duplicate, private, ...).
// An event is "recorded" when it has its row. The id is the unique name of the event's file, so that reading
// a file twice changes nothing.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "event/event.h"
#include "store/sql.h"
#include "store/states.h"

namespace cairn::store {

struct Placement {
  SessionId session;
  std::optional<std::int64_t> prompt_number;
  std::string payload_hash;  // of the cleaned event
  // The call that the event belongs to, when the host gives calls no ids: see open_call().
  std::optional<std::string> tool_use_id;
};

// Whether the event has its row already.
Result<bool> is_recorded(Db& db, const EventId& id);

// Deletes the row of an event that was counted as unreadable, so that it can be read again. False for any
// other outcome.
Result<bool> reopen_bad(Db& db, const EventId& id);

// The id of an event that was read from a transcript, made of the tool use or the prompt (`key`) it belongs
// to: reading the transcript again gives the same id.
EventId transcript_event_id(const std::string& platform, const ContentId& session, std::string_view key,
                            event::Kind kind);

// Whether an equal event is stored: same tool use and kind (success and failure are both results), the same
// prompt read from a transcript, else same name, prompt and payload within 5 s.
Result<bool> is_duplicate(Db& db, const event::CleanEvent& event, const Placement& placement);

// For hosts that give calls no ids: the oldest call of the session whose start has `start_hash` as its hash
// and that has not ended; nothing when there is none.
Result<std::optional<std::string>> open_call(Db& db, SessionId session, const std::string& start_hash);

// Writes the row of an event that is stored; returns its number in the order of events.
Result<std::int64_t> record_stored(Db& db, const event::CleanEvent& event, const Placement& placement,
                                   WallTime now);

// Writes the row of an event that is only counted. None of its content is kept.
struct Counted {
  EventId id;
  std::string name;
  std::string_view kind = "other";
  EventOutcome outcome = EventOutcome::skipped;
  std::string reason;
  std::optional<SessionId> session;
  std::optional<std::int64_t> prompt_number;
  WallTime at;
  event::Source source = event::Source::hook;
};
Status record_counted(Db& db, const Counted& counted, WallTime now);

// The row of an event.
struct EventRow {
  std::int64_t seq = 0;
  EventId id;
  std::optional<SessionId> session;
  std::string name;
  event::Kind kind = event::Kind::other;
  EventOutcome outcome = EventOutcome::bad;
  std::optional<std::string> reason;
  std::optional<std::int64_t> prompt_number;
  std::optional<std::string> tool_name, tool_use_id, agent_id, agent_type;
  WallTime at;
  event::Source source = event::Source::hook;
  std::optional<MessageStatus> message;  // of its message in the queue
  bool cut = false;
  bool stored() const { return outcome == EventOutcome::stored; }
};
Result<std::optional<EventRow>> find_event(Db& db, const EventId& id);
// The events of a session, in order.
Result<std::vector<EventRow>> events_of(Db& db, SessionId session);
Result<std::optional<EventRow>> first_start(Db& db, SessionId session);
Result<std::optional<EventRow>> last_stored_start(Db& db, SessionId session);

// How many events a session has of each sort, in the order of outcomes and reasons.
struct EventCount {
  event::Source source = event::Source::hook;
  EventOutcome outcome = EventOutcome::bad;
  std::optional<std::string> reason;
  event::Kind kind = event::Kind::other;
  std::int64_t count = 0;
};
Result<std::vector<EventCount>> count_events(Db& db, SessionId session);

// Sums over all events.
struct Ledger {
  std::int64_t events = 0, from_transcripts = 0;
  std::int64_t recovered = 0;      // from transcripts, and stored
  std::int64_t waiting_calls = 0;  // calls that only a transcript has, so far
  Counts counted;                  // of hooks' events that are not stored, by outcome
};
// Calls after `until` do not count: their hook may still deliver them.
Result<Ledger> ledger(Db& db, WallTime until);
Result<std::int64_t> count_events(Db& db);
// Events that could not be read.
Result<std::int64_t> count_bad(Db& db);

}  // namespace cairn::store
