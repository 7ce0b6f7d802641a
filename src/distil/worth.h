// Distinguishes real requests from routine ones, such as "commit it".
#pragma once

#include <string_view>

namespace cairn::distil {

// Whether a request is only "commit", "push", "yes", "go on", or a command of the host without further words.
// Such a turn gets no heading of its own, and no observations are made from it alone.
bool is_chore(std::string_view request);

}  // namespace cairn::distil
