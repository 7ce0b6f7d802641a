// From the store's rows of a turn to its built-in summary and observations, and back.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "distil/turn.h"
#include "store/budget.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/turns.h"

namespace cairn::intake {

// The turn as the distiller reads it, from queue and evidence.
Result<distil::Turn> load_turn(store::Db& db, const store::Session& session, const store::Turn& turn);

// Writes the turn's summary and observations in the caller's transaction, in place of what stood there;
// registers the session's memory id when it has none. A muted turn and one with nothing to tell get none; the
// summary is written however much of its budget the session has used. Nothing: no summary was written.
Result<std::optional<store::Put>> distil_turn(store::Db& db, const store::Session& session,
                                              const store::Turn& turn, const distil::Mode& mode,
                                              const store::SessionBudget& budget, WallTime now);

}  // namespace cairn::intake
