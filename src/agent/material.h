// Reads from the store what a request about a batch of events needs.
#pragma once

#include <vector>

#include "agent/prompt.h"
#include "base/result.h"
#include "store/sessions.h"
#include "store/sql.h"

namespace cairn::agent {

// `events`: the batch, oldest first. `fresh`: the conversation begins, so the session's running summary is
// added. Does not set batch_id.
Result<PromptMaterial> load_material(store::Db& db, const store::Session& session,
                                     std::vector<store::KeptEvent> events, bool fresh);

}  // namespace cairn::agent
