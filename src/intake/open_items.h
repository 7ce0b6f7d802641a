// From a turn to the project's open items: adds what the turn left to do, closes what it did.
#pragma once

#include "base/result.h"
#include "distil/distil.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/turns.h"

namespace cairn::intake {

// Writes in the caller's transaction. Running it again for the same turn replaces what it wrote before. A
// turn that is still open adds only tasks and plans. What a person closed stays closed. `left`: what the turn
// left open and did. `rules`: more standing orders, as a model understood the prompt.
Status keep_open_items(store::Db& db, const store::Session& session, const store::Turn& turn,
                       const distil::Turn& facts, distil::LeftOpen left, const distil::Mode& mode,
                       const std::vector<std::string>& rules = {});

}  // namespace cairn::intake
