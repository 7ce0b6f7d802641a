// Words for people in place of values of the database and JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::cli {

// The words for how a turn or a session ended, or for the outcome of an event: "dead_host" is "the coding
// agent died". A value without an entry is returned as it is.
std::string_view word_for(std::string_view value);

// The state of a session: active, completed or interrupted.
std::string_view session_word(const Json& session);

}  // namespace cairn::cli
