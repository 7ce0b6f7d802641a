#include "recall/match.h"

#include <algorithm>
#include <array>

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

std::string phrase_of(std::string_view text) {
  std::string words;
  TermReader reader(text, TermsOf::query);
  Term term;
  for (std::size_t count = 0; count < kMostTerms && reader.next(term);)
    if (!term.whole) words += (words.empty() ? "" : " ") + term.text, ++count;
  return words.empty() ? "" : in_quotes(words);
}

std::string word_match(std::string_view word) {
  std::string match = phrase_of(word);
  TermReader reader(word, TermsOf::query);
  Term term;
  for (std::size_t count = 0; count < kMostTerms && reader.next(term); ++count)
    if (term.whole) match += " OR " + in_quotes(term.text);
  return match.empty() ? "" : "(" + match + ")";
}

PassageQuery passage_query(const Query& query) {
  PassageQuery out;
  std::vector<std::string> words;
  const std::string line = one_line(query.words, query.words.size() + 8);
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  const auto is_stop = [](const std::string& word) { return is_stop_word(ascii_lower(word)); };
  if (!std::all_of(words.begin(), words.end(), is_stop)) std::erase_if(words, is_stop);
  const auto add = [&out](const std::string& word, bool needed) {
    const std::string match = word_match(word);
    if (match.empty() || out.words.size() == kMostTerms) return;
    out.words.push_back(word);
    out.all += (out.all.empty() ? "" : " AND ") + match;
    if (needed) return;
    out.any += (out.any.empty() ? "" : " OR ") + match;
  };
  for (const std::string& phrase : query.phrases) add(phrase, true);
  const std::string phrases = out.all;
  for (const std::string& word : words) add(word, false);
  if (out.all.empty()) return out;
  if (out.any.empty())
    out.any = phrases;
  else if (!phrases.empty())
    out.any = phrases + " AND (" + out.any + ")";
  for (const std::string& text : query.without)
    if (const std::string phrase = phrase_of(text); !phrase.empty())
      for (std::string* match : {&out.all, &out.any}) *match = "(" + *match + ") NOT " + phrase;
  return out;
}

bool contains_all(const store::IndexTerms& index, std::string_view text,
                  const std::vector<std::string>& words) {
  std::set<std::string> there;
  for (const Term& term : index.of(text, TermsOf::document)) there.insert(term.text);
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    bool parts = true;
    for (const Term& term : index.of(word, TermsOf::query)) {
      if (term.whole && there.contains(term.text)) return true;
      parts = parts && (term.whole || there.contains(term.text));
    }
    return parts;
  });
}

}  // namespace cairn::recall
