// Secrets that are known by the heading of their column: tables of databases and of Markdown, and lines of
// values with a comma or a tab between them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "gate/named_secrets.h"

namespace cairn::gate {

// When text[begin, end), a telling name, is the heading of a column: appends what stands below it and is a
// secret, in a few dozen rows. Gives how many characters it read; none when it is plainly no heading.
std::size_t find_column(std::string_view text, std::size_t begin, std::size_t end, std::vector<Place>& found);

}  // namespace cairn::gate
