// Translates a query into the query language of the index (FTS5).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recall/query.h"
#include "store/fts.h"

namespace cairn::recall {

// Only the first terms of a long query are used.
inline constexpr std::size_t kMostTerms = 64;

// In quotes FTS5 cannot read terms as operators: they consist of letters and digits.
std::string in_quotes(std::string_view words);
// The terms of `text` one after another, as a phrase; empty when it has none.
std::string phrase_of(std::string_view text);
// One word as it was typed: an identifier whole, or its parts one after another. Empty when it has no term.
std::string word_match(std::string_view word);
bool is_stop_word(std::string_view word);

// What a passage must contain: every word of the query, and none of those it leaves out.
struct PassageQuery {
  std::vector<std::string> words;  // as they were typed, without stop words; phrases too
  std::string all, any;            // in FTS5's language; empty: nothing to look for
};
PassageQuery passage_query(const Query& query);

// Whether `text` contains every one of the words, an identifier in any spelling.
bool contains_all(const store::IndexTerms& index, std::string_view text,
                  const std::vector<std::string>& words);

}  // namespace cairn::recall
