// Payloads in the shape that Claude Code introduced and other coding agents took over: one object with
// session_id, cwd, hook_event_name, tool_name, tool_input and so on. Each host has its own names of events;
// what it does differently it changes in the Event afterwards.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "event/event.h"
#include "hook/envelope.h"

namespace cairn::host {

// A host's names of events, and their kinds. The first name of a kind is the one that is written.
using KindNames = std::span<const std::pair<std::string_view, event::Kind>>;

// As Host::kind_of and Host::name_of.
event::Kind kind_in(KindNames names, std::string_view event_name);
std::string_view name_in(KindNames names, event::Kind kind);

// The member of a payload that names its session, and all members that are ids.
inline constexpr std::string_view kSessionMember = "session_id";
inline constexpr std::array<std::string_view, 3> kIdMembers = {kSessionMember, "prompt_id", "tool_use_id"};

struct Shaped {
  event::Event event;
  Json payload;  // as far as it was readable
};

// As Host::read_event; the directory of the project is the environment's.
Result<Shaped> read_shaped(KindNames names, const EventId& id, const hook::Envelope& envelope,
                           std::string_view payload);
// As Host::write_event.
Json write_shaped(const event::Event& event);

// A tool's failure as an Event has it: "Exit code 3", then what the tool printed.
void set_exit_code(event::Event& event, std::int64_t code, std::string_view output);

// The string; any other value as JSON, null as nothing.
std::string text_of(const Json& value);

}  // namespace cairn::host
