// Reads a turn from the store, distils it and stores its built-in summary and observations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "distil/distil.h"
#include "intake/turn_digest.h"
#include "store/budget.h"
#include "store/evidence.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/turns.h"

namespace cairn::intake {

// The directory below which paths are shown relative.
Result<std::string> root_of(store::Db& db, const store::Session& session);

// Adds texts that are no longer kept as evidence, from the archive.
using FillTexts = std::function<void(const store::Session& session, std::vector<store::KeptEvent>& events)>;

// Writes the turn's summary and observations in the caller's transaction and replaces earlier ones. Registers
// the session's memory id when it has none. A private turn, and one without content, get no summary; then the
// result is nothing. The summary is written even when the session has used its budget. What a model's summary
// says is open is merged with what the turn itself shows. `fill`: for a turn whose texts were removed;
// without it such a turn is left as it is.
Result<std::optional<store::Put>> distil_turn(store::Db& db, const store::Session& session,
                                              const store::Turn& turn, const distil::Mode& mode,
                                              const store::SessionBudget& budget, WallTime now,
                                              const FillTexts& fill = nullptr);

// The same for a turn whose events are in `digest`. Does not look whether the turn is private or its texts
// were removed, and leaves the turn's mark (store::set_summarised) to the caller.
Result<std::optional<store::Put>> store_distilled(store::Db& db, const store::Session& session,
                                                  const store::Turn& turn, const TurnDigest& digest,
                                                  const distil::Mode& mode,
                                                  const store::SessionBudget& budget, WallTime now);

}  // namespace cairn::intake
