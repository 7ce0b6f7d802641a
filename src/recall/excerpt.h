// Marks a query's terms in a text, and cuts out the piece that contains most of them, for lists of search
// results.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/fts.h"

namespace cairn::recall {

using Mark = std::pair<std::size_t, std::size_t>;  // bytes from, to

// A text on one line, and the places in it that match.
struct Marked {
  std::string text;
  std::vector<Mark> marks;
};

// The whole text with its marks.
Marked mark(const store::IndexTerms& index, std::string text, const std::set<std::string>& terms);

// The piece of about `bytes` with the most terms, with "…" where it was cut; empty when the text contains
// none.
Marked excerpt(const store::IndexTerms& index, std::string_view text, const std::set<std::string>& terms,
               std::size_t bytes);

}  // namespace cairn::recall
