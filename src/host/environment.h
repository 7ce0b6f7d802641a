// What coding agents put into the environment of the commands that they run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cairn::host {

// The name of the coding agent that started this process; nothing when a person probably did.
std::optional<std::string_view> agent_in_environment();

// The host's id of the session whose agent started this process; nothing when it is not known.
std::optional<std::string> session_in_environment();

// Whether a coding agent sets the variable of that "NAME=value" for its commands.
bool is_agents_variable(std::string_view assignment);

}  // namespace cairn::host
