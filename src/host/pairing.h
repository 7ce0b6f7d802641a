// For hosts whose payloads lack something about a tool call: its id, or its exit code as a number.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "event/event.h"

namespace cairn::host {

// Names the call by its tool, its input and the time in the payload: a payload that comes twice has the same
// id, the same command run again has another one. The end of a call then takes the id of its start
// (Event::pairs_by_input).
void make_call_id(event::Event& event);

// Removes members of `extra`.
void drop_extra(event::Event& event, std::initializer_list<std::string_view> keys);

// The number in a line "Exit Code: 3".
std::optional<std::int64_t> exit_code_in(std::string_view text);

}  // namespace cairn::host
