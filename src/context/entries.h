// Small pieces that the sections of a context share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/summaries.h"

namespace cairn::context {

std::string date(WallTime t);
std::string id_of(const store::Summary& summary);
// "a, b and 3 more".
std::string first_few(const std::vector<std::string>& items, std::size_t max_items);

// What interrupted the turn of this summary; empty: nothing did.
std::string_view interruption_of(const store::Summary& summary);

}  // namespace cairn::context
