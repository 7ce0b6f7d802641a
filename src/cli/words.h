// Words for people in place of values of the database and JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::cli {

// How a turn or session ended, or what became of an event: "dead_host" is "Claude Code died". Other values
// are returned as they are.
std::string_view word_for(std::string_view value);

// The state of a session: active, completed or interrupted.
std::string_view session_word(const Json& session);

}  // namespace cairn::cli
