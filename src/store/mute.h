// A private prompt mutes its turn: nothing of it is kept, though some of it may have come before the prompt
// did.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "store/sql.h"

namespace cairn::store {

// Mutes a turn, in the caller's transaction. What was stored of it goes, with everything that was learned
// from it alone; its events are counted as private from now on.
Status mute_turn(Db& db, SessionId session, std::int64_t number);

}  // namespace cairn::store
