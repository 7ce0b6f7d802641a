// What a turn is worth: work, or only a chore of the work before it.
#pragma once

#include <string_view>

namespace cairn::distil {

// Whether a request is nothing but "commit", "push", "yes", "go on", or a command of the host without words
// of its own: it takes no place of its own, and nothing is learned from its turn alone.
bool is_chore(std::string_view request);

}  // namespace cairn::distil
