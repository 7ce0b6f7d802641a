// Passwords that people tell each other in a sentence: "the password for the staging db is ...", "put ... in
// as the root password", "log in as root / ...". They must look chosen or drawn by lot.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

// What stands before the name of a user and his password, for the search by literals, in either case.
const std::vector<std::string_view>& login_literals();

// The password behind login_literals()[index], which ends at `end`: admin / ..., ops:... Gives what it cost,
// in characters.
std::size_t find_told_login(std::string_view text, std::size_t index, std::size_t end,
                            std::vector<Place>& found);

// What the sentence around text[begin, end), where a telling name stands, says of it: before it or behind it.
// What ends before `from` is known. Gives what it cost, in characters.
std::size_t find_said(std::string_view text, std::size_t begin, std::size_t end, std::size_t from,
                      std::vector<Place>& found);

}  // namespace cairn::gate
