// Translates a query into the query language of the index (FTS5).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recall/query.h"
#include "recall/words.h"
#include "store/fts.h"

namespace cairn::recall {

// The fields of the index that hold text.
inline constexpr std::string_view kFields = "{title body files concepts} : ";
// Those of an entry's own text, without the files and concepts it names.
inline constexpr std::string_view kOwnText = "{title body} : ";

// The index's word for a project.
std::string project_word(std::string_view project);
// In quotes FTS5 cannot read terms as operators: they consist of letters and digits.
std::string in_quotes(std::string_view words);
// The terms of `text` one after another, as a phrase; empty when it has none.
std::string phrase_of(std::string_view text);
bool is_stop_word(std::string_view word);

}  // namespace cairn::recall
