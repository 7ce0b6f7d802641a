// An inbox full of unread events.
#pragma once

#include <cstddef>
#include <string>

namespace cairn::test {

// Delivers `count` events of one past session in `project` to the inbox of `cairn_home`, as hooks would have:
// a start, a prompt, shell commands, a stop and an end. False when one could not be delivered.
bool fill_inbox(const std::string& cairn_home, const std::string& project, std::size_t count);

}  // namespace cairn::test
