// Secrets among the arguments of a call that tells by its name: login("name", "..."), new PDO(.., .., '...'),
// jwt.sign(claims, '...'), cohere.Client("..."). No name stands beside them, so they must look chosen or
// drawn.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

// What such a call begins with, for the search by literals, in either case.
const std::vector<std::string_view>& call_literals();

// Reads the arguments behind text[begin, end), where call_literals()[index] stands. Appends the secrets.
// Gives what it cost, in characters: it reads no more than a few hundred.
std::size_t find_in_call(std::string_view text, std::size_t index, std::size_t begin, std::size_t end,
                         std::vector<Place>& found);

}  // namespace cairn::gate
