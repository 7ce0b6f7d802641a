// From a scanned reply to rows of the store. Files, turns and times come from the events, never from the
// model.
#pragma once

#include <string_view>
#include <vector>

#include "agent/reply.h"
#include "base/result.h"
#include "gate/gate.h"
#include "store/evidence.h"
#include "store/observations.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "store/summaries.h"

namespace cairn::agent {

struct Rows {
  std::vector<store::Observation> observations;
  std::vector<store::Summary> summaries;
};

// `events`: those of the request, oldest first, at least one. Every text passes `gate` and cannot contain
// labels of ours. A summary that names a turn outside of `events` is left out.
Result<Rows> rows_of(store::Db& db, const Scanned& reply, const store::Session& session,
                     const std::vector<store::KeptEvent>& events, const gate::Gate& gate,
                     std::string_view provider);

}  // namespace cairn::agent
