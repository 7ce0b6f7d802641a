// The secrets that were removed from a session's events, as keyed hashes: what later events are searched for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

struct SessionSecret {
  std::uint64_t hash = 0;    // of all of it
  std::uint16_t start = 0;   // of its first characters
  std::uint32_t length = 0;  // in characters
};

// The secrets of the session with the host's id `session`; none when there is no such session.
Result<std::vector<SessionSecret>> session_secrets(Db& db, std::string_view session);

// Adds one, in the caller's transaction. A second time changes nothing; a session has at most a few thousand.
Status add_session_secret(Db& db, SessionId session, const SessionSecret& secret);

}  // namespace cairn::store
