// What was stored before it was known that it must not be: a private prompt mutes its turn, and a tool's
// result that is kept out takes the call with it.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

// Mutes a turn, in the caller's transaction. What was stored of it goes, with everything that was learned
// from it alone; its events are counted as private from now on.
Status mute_turn(Db& db, SessionId session, std::int64_t number);

// Whether some prompt of the session was private as a whole.
Result<bool> has_private_turn(Db& db, SessionId session);

// Forgets the start of a tool use whose end was refused for `reason`, in the caller's transaction: told alone
// it would look like a call that was interrupted.
Status forget_start(Db& db, SessionId session, std::string_view tool_use_id, std::string_view reason);

}  // namespace cairn::store
