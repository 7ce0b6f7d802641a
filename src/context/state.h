// The section "State": how the last session ended, its commits and pull requests, uncommitted files, other
// sessions at work.
#pragma once

#include <string>
#include <vector>

#include "context/story.h"
#include "store/open_items.h"

namespace cairn::context {

// Lines, each with its line feed; empty when there is nothing to show. The texts in `stories` must have been
// made data already. `plans`: those that were not accepted; those of the newest session are named.
std::string state_text(const std::vector<Story>& stories, const std::vector<store::OpenItem>& plans,
                       const std::vector<std::string>& uncommitted, const std::string& own_session);

// What interrupted the last turn of this session; empty: nothing did.
std::string_view interruption_of(const Story& story);

}  // namespace cairn::context
