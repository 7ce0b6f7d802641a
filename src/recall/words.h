// The words of a query as ranking uses them, and how often they occur in a text.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/fts.h"

namespace cairn::recall {

// Only the first terms of a long query are used.
inline constexpr std::size_t kMostTerms = 64;

// One term of a query.
struct QueryWord {
  std::string text;       // in lower case, for the index
  std::string stem;       // as the index has it
  bool whole = false;     // an identifier with all its parts
  bool one_sign = false;  // a single ideograph: the beginning of a pair
  std::size_t place = 0;  // its number among the words of the query
  double frequency = 0;   // how many entries have it, estimated
  double weight = 0;      // its inverse document frequency
  // Other forms of the word that count as the word itself: "chose" for "choose".
  std::vector<std::string> forms, form_stems;

  // In FTS5's language.
  std::string match() const;
};

// The terms of `text`, each once, without words that have no meaning for a search unless there are only such.
std::vector<QueryWord> query_words(const store::IndexTerms& index, std::string_view text);

// The stems of the words and of their other forms.
std::set<std::string> stems_of(const std::vector<QueryWord>& words);

// How often each word of a query occurs in a text. Fast: it stems only words that begin like a stem of the
// query. Borrows both; belongs to one thread.
class WordCounter {
 public:
  WordCounter(const store::IndexTerms& index, const std::vector<QueryWord>& words);

  struct Found {
    std::vector<std::uint16_t> counts;                            // for each word of the query, or none
    std::vector<std::pair<std::uint32_t, std::uint16_t>> places;  // the number of a word in the text, which

    std::uint16_t count(std::size_t word) const { return counts.empty() ? 0 : counts[word]; }
  };
  // Adds what is in `text` to `found`.
  void count(std::string_view text, Found& found);

 private:
  const std::vector<std::uint16_t>& words_at(std::string_view run);
  bool may_match(std::string_view run) const;

  const store::IndexTerms& index_;
  std::unordered_multimap<std::string, std::uint16_t> stems_;
  std::unordered_map<std::string, std::vector<std::uint16_t>> known_;  // runs of letters that were stemmed
  std::array<bool, 65536> begins_{};                                   // the first two letters of a stem
  bool any_sign_ = false;  // a word of the query is a single ideograph
  std::size_t size_ = 0;
};

}  // namespace cairn::recall
