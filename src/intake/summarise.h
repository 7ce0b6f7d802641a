// Reads a turn from the store, distils it and stores its built-in summary and observations.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "distil/distil.h"
#include "store/budget.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/turns.h"

namespace cairn::intake {

// Writes the turn's summary and observations in the caller's transaction, in place of what stood there;
// registers the session's memory id when it has none. A muted turn and one with nothing to tell get none; the
// summary is written however much of its budget the session has used. Nothing: no summary was written.
Result<std::optional<store::Put>> distil_turn(store::Db& db, const store::Session& session,
                                              const store::Turn& turn, const distil::Mode& mode,
                                              const store::SessionBudget& budget, WallTime now);

}  // namespace cairn::intake
