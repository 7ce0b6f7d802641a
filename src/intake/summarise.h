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

// Writes the turn's summary and observations in the caller's transaction and replaces earlier ones. Registers
// the session's memory id when it has none. A muted turn, and one without content, get no summary; then the
// result is nothing. The summary is written even when the session has used its budget.
Result<std::optional<store::Put>> distil_turn(store::Db& db, const store::Session& session,
                                              const store::Turn& turn, const distil::Mode& mode,
                                              const store::SessionBudget& budget, WallTime now);

}  // namespace cairn::intake
