// From a turn to the project's open items: what it leaves open is opened, what it did is closed.
#pragma once

#include "base/result.h"
#include "distil/mode.h"
#include "distil/turn.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/turns.h"

namespace cairn::intake {

// Writes, in the caller's transaction, what the turn leaves open, and closes what it did. Telling the same
// turn again changes nothing; telling it otherwise takes back what it did before. A turn that is still open
// tells its tasks and plans only. What a person closed stays closed.
Status keep_open_items(store::Db& db, const store::Session& session, const store::Turn& turn,
                       const distil::Turn& told, const distil::Mode& mode);

}  // namespace cairn::intake
