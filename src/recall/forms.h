// English words whose forms the stemmer does not bring together: "choose", "chose" and "chosen". A question
// asks "why did we choose", the answer says "we chose".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::recall {

// The other forms of a word in lower case, as they are written; none for most words.
std::vector<std::string> other_forms(std::string_view word);

}  // namespace cairn::recall
