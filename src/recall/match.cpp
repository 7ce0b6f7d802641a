#include "recall/match.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text.h"

namespace cairn::recall {

using store::Term;
using store::TermReader;
using store::TermsOf;

namespace {

// Words without meaning for a search. They are left out of queries only, not of the index: a phrase may
// contain them.
constexpr std::array kStopWords = {
    "a",    "about", "an",    "and",   "are",   "as",   "at",   "be",   "but",   "by",  "can",
    "did",  "do",    "does",  "for",   "from",  "had",  "has",  "have", "how",   "i",   "in",
    "is",   "it",    "its",   "me",    "my",    "of",   "on",   "or",   "our",   "so",  "that",
    "the",  "their", "them",  "then",  "there", "this", "to",   "us",   "was",   "we",  "were",
    "what", "when",  "where", "which", "who",   "why",  "will", "with", "would", "you", "your"};

}  // namespace

bool is_stop_word(std::string_view word) {
  return std::find(kStopWords.begin(), kStopWords.end(), word) != kStopWords.end();
}

std::string in_quotes(std::string_view words) {
  return "\"" + std::string(words) + "\"";
}

std::string project_word(std::string_view project) {
  return in_quotes("p" + to_hex(project));
}

std::string phrase_of(std::string_view text) {
  std::string words;
  TermReader reader(text, TermsOf::query);
  Term term;
  for (std::size_t count = 0; count < kMostTerms && reader.next(term);)
    if (!term.whole) words += (words.empty() ? "" : " ") + term.text, ++count;
  return words.empty() ? "" : in_quotes(words);
}

}  // namespace cairn::recall
