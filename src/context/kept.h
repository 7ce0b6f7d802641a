// What a compaction loses: the host's summary of a session seldom has the commands that worked and the
// decisions that were made. Those that it does not have are given to the session again.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "store/sql.h"

namespace cairn::context {

// A line of the session that the model no longer has.
struct DroppedLine {
  std::string id;    // of the observation
  std::string text;  // one sentence
};

// The decisions of the session and the checks that passed in it, newest first, without those that the newest
// summary of a compaction says. At most 8. Nothing when the session was not compacted.
Result<std::vector<DroppedLine>> dropped_by_compaction(store::Db& db, SessionId session);

}  // namespace cairn::context
