// Secrets in addresses that have no user: the last part of a webhook or of a link that resets a password, and
// parameters that no name of ours tells. And the private members of a key that is written as JSON.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

// What they are known by, for the search by literals, in either case.
const std::vector<std::string_view>& address_literals();

// Reads around text[begin, end), where address_literals()[index] stands. Appends the secrets. Gives what it
// cost, in characters.
std::size_t find_in_address(std::string_view text, std::size_t index, std::size_t begin, std::size_t end,
                            std::vector<Place>& found);

}  // namespace cairn::gate
