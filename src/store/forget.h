// Removes what was stored before it was known to be unwanted: the turn of a prompt that turned out to be
// private, and the start of a tool call whose result is excluded.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

// Makes a turn private, in the caller's transaction. Deletes its texts and everything that was learned from
// it alone. Its events stay as counts with the outcome `private`, and so will later ones.
Status forget_turn(Db& db, SessionId session, std::int64_t number);

// Whether some prompt of the session was private as a whole.
Result<bool> has_private_turn(Db& db, SessionId session);

// Deletes the start of a tool call whose end was refused for `reason`, in the caller's transaction: alone it
// would look like a call that was interrupted.
Status forget_start(Db& db, SessionId session, std::string_view tool_use_id, std::string_view reason);

}  // namespace cairn::store
