// Words for people in place of the values that stand in the database and in JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::cli {

// How a turn or a session ended, or what became of an event: "dead_host" is "Claude Code died". A value that
// has no other word is its own.
std::string_view word_for(std::string_view value);

// What a session is: active, completed or interrupted.
std::string_view session_word(const Json& session);

}  // namespace cairn::cli
