// How one summary or observation is shown in a context: in full, or in a line.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/observations.h"
#include "store/summaries.h"

namespace cairn::context {

std::string date(WallTime t);
std::string id_of(const store::Summary& summary);
std::string id_of(const store::Observation& observation);
// "a, b and 3 more".
std::string joined(const std::vector<std::string>& items, std::size_t max_items);

// Whether the work of this summary was broken off, and by what; empty: it was not.
std::string_view broken_by(const store::Summary& summary);

// A turn in full, without the lines that are `told` already, with the ids of its observations.
std::string full_entry(const store::Summary& summary, const std::vector<const store::Observation*>& details,
                       const std::set<std::string>& told);
// A turn in a line.
std::string line_entry(const store::Summary& summary);
// An observation in a line, with what `cairn show` of it costs in tokens.
std::string line_entry(const store::Observation& observation, bool with_date);

}  // namespace cairn::context
