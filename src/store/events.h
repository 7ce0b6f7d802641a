// The ledger of events: each delivered event is settled here once, with what became of it. Its file's name is
// unique, so an event that is taken in twice changes nothing.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "event/event.h"
#include "store/sql.h"

namespace cairn::store {

struct Placement {
  SessionId session;
  std::optional<std::int64_t> prompt_number;
  std::string payload_hash;  // of the cleaned event
};

// Whether the event has been settled already.
Result<bool> is_settled(Db& db, const EventId& id);

// Forgets that it was counted as one that cannot be read, so that it can be settled anew; false for any
// other.
Result<bool> reopen_bad(Db& db, const EventId& id);

// The id of the event that a transcript tells, by the tool use or the prompt it belongs to: always the same.
EventId transcript_event_id(const std::string& platform, const ContentId& session, std::string_view key,
                            event::Kind kind);

// Whether an equal event is there: same tool use and kind (a result is a result, whether it says that it
// failed or not), the same prompt from a transcript, else same name, prompt and payload within 5 s.
Result<bool> is_duplicate(Db& db, const event::CleanEvent& event, const Placement& placement);

// Settles an event that is kept; returns its place in the order.
Result<std::int64_t> settle_stored(Db& db, const event::CleanEvent& event, const Placement& placement,
                                   WallTime now);

// Settles an event that is only counted. Nothing of its content is kept.
struct Counted {
  EventId id;
  std::string name;
  std::string_view kind = "other";
  std::string_view outcome;  // duplicate, skipped, private, own_agent, bad
  std::string reason;
  std::optional<SessionId> session;
  std::optional<std::int64_t> prompt_number;
  WallTime at;
  std::string_view source = "hook";  // or transcript
};
Status settle_counted(Db& db, const Counted& counted, WallTime now);

}  // namespace cairn::store
