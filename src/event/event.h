// One event in cairn's own terms, the same for every host. The host's reader makes an Event, and the gate
// turns it into a CleanEvent. An event is recorded as stored only from a CleanEvent: the type proves that it
// has passed the gate.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/json.h"
#include "base/time.h"
#include "event/start_reason.h"
#include "os/process.h"

namespace cairn::gate {
class Gate;
}

namespace cairn::event {

enum class Kind {
  session_start,
  prompt,
  tool_start,    // a call begins; without an end it counts as interrupted
  tool,          // a call ended
  tool_failure,  // a call failed
  stop,
  stop_failure,
  session_end,
  subagent_start,
  subagent_stop,
  compact_start,
  compact_end,
  other,  // every other name, known or not: kept, not interpreted
};

// In the order of Kind.
inline constexpr auto kKindNames = std::to_array<std::string_view>(
    {"session_start", "prompt", "tool_start", "tool", "tool_failure", "stop", "stop_failure", "session_end",
     "subagent_start", "subagent_stop", "compact_start", "compact_end", "other"});
std::string_view kind_name(Kind kind);

// Who delivered an event.
enum class Source { hook, transcript };

struct Event {
  EventId id;
  Source source = Source::hook;
  std::string host;
  std::string name;  // as the host says it
  Kind kind = Kind::other;
  ContentId session;
  WallTime at;
  std::int64_t boot_ns = 0;
  std::string boot_id;
  os::ProcessKey host_process;

  std::string cwd;
  std::string project_dir;  // as the host's variable has it
  std::string transcript_path;
  std::optional<std::string> prompt_id;
  std::optional<std::string> agent_id;  // inside a subagent
  std::optional<std::string> agent_type;

  std::string prompt;                    // prompt
  bool synthetic_prompt = false;         // the host wrote it, not the user: a background task ended
  std::optional<std::string> tool_name;  // tool_start, tool, tool_failure
  std::optional<std::string> tool_use_id;
  Json tool_input;
  Json tool_response;
  std::string error;  // tool_failure, stop_failure
  bool interrupted = false;
  std::string last_assistant_message;  // stop, stop_failure, subagent_stop
  std::string reason;                  // session_start: source; session_end: reason; compaction: trigger
  StartReason start_reason = StartReason::startup;  // session_start: what `reason` means
  Json extra;                                       // the payload's other fields, kept as evidence

  // Why the event says nothing about the work, and is only counted; empty: it is stored.
  std::string left_out;
  // The host gives its tool calls no ids: the end of a call belongs to the oldest open call of that tool with
  // the same input.
  bool pairs_by_input = false;

  bool cut = false;         // the hook kept head and tail only
  bool incomplete = false;  // the payload was cut off; this is the readable part
};

// An event that has passed the gate. Only gate::Gate makes one, and an event is recorded as stored only from
// one.
class CleanEvent {
 public:
  const Event& operator*() const { return event_; }
  const Event* operator->() const { return &event_; }

 private:
  friend class gate::Gate;
  explicit CleanEvent(Event event) : event_(std::move(event)) {}
  Event event_;
};

}  // namespace cairn::event
