// Claude Code's events: the names of its hooks and the members of their payloads.
#pragma once

#include <string_view>

#include "base/result.h"
#include "event/event.h"
#include "hook/envelope.h"

namespace cairn::host::claude {

// See Host for the contracts.
Result<event::Event> read_event(const EventId& id, const hook::Envelope& envelope, std::string_view payload);
event::Kind kind_of(std::string_view event_name);
std::string_view name_of(event::Kind kind);
Json write_event(const event::Event& event);

// Whether a prompt is not the user's: a finished background task, a teammate, a stop hook, the summary of a
// compaction.
bool is_notification(std::string_view prompt);

}  // namespace cairn::host::claude
