// What is so now: how the last session ended, its commits and pull requests, files that are not committed,
// others at work.
#pragma once

#include <string>
#include <vector>

#include "context/story.h"
#include "store/open_items.h"

namespace cairn::context {

// Lines, each with its line feed; empty when there is nothing to say. Stories must be data already.
// `plans`: those that were not accepted; those of the newest session are named.
std::string state_text(const std::vector<Story>& stories, const std::vector<store::OpenItem>& plans,
                       const std::vector<std::string>& uncommitted, const std::string& own_session);

// Whether the newest session was broken off, and by what; empty: it was not.
std::string_view broken_by(const Story& story);

}  // namespace cairn::context
