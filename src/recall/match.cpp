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
    "a",       "about", "am",   "an",     "and",    "are",     "as",     "at",    "be",         "been",
    "being",   "but",   "by",   "can",    "could",  "did",     "do",     "does",  "doing",      "for",
    "from",    "had",   "has",  "have",   "having", "he",      "her",    "hers",  "herself",    "him",
    "himself", "his",   "how",  "i",      "if",     "in",      "into",   "is",    "it",         "its",
    "itself",  "me",    "my",   "myself", "of",     "on",      "or",     "our",   "ours",       "she",
    "should",  "so",    "than", "that",   "the",    "their",   "theirs", "them",  "themselves", "then",
    "there",   "these", "they", "this",   "those",  "to",      "too",    "us",    "was",        "we",
    "were",    "what",  "when", "where",  "which",  "who",     "whom",   "whose", "why",        "will",
    "with",    "would", "you",  "your",   "yours",  "yourself"};

}  // namespace

bool is_stop_word(std::string_view word) {
  return std::find(kStopWords.begin(), kStopWords.end(), word) != kStopWords.end();
}

std::string in_quotes(std::string_view words) {
  return "\"" + std::string(words) + "\"";
}

// In hex, so that the index reads it as one term, whatever characters the name has.
std::string project_word(std::string_view project) {
  return in_quotes("p" + to_hex(project));
}

std::string phrase_of(std::string_view text) {
  std::string words;
  TermReader reader(text, TermsOf::query);
  Term term;
  for (std::size_t count = 0; count < kMostTerms && reader.next(term);)
    // The parts of an identifier, without the whole: in the index they follow each other, as in a phrase.
    if (!term.whole) words += (words.empty() ? "" : " ") + term.text, ++count;
  return words.empty() ? "" : in_quotes(words);
}

}  // namespace cairn::recall
