#include "recall/words.h"

#include <algorithm>

#include "base/text.h"
#include "recall/forms.h"
#include "recall/match.h"

namespace cairn::recall {

namespace {

// The index has ideographs in pairs, so a single one in a query is looked up as the beginning of a pair.
// 0xE0 begins a character of three bytes.
bool is_one_ideograph(const store::Term& term) {
  return static_cast<unsigned char>(term.text.front()) >= 0xE0 && term.text.size() <= 4 &&
         utf16_length(term.text) <= 2 && term.end - term.start == term.text.size();
}

void add_forms(const store::IndexTerms& index, QueryWord& word) {
  word.forms = other_forms(word.text);
  for (const std::string& form : word.forms)
    for (store::Term& term : index.of(form, store::TermsOf::query))
      word.form_stems.push_back(std::move(term.text));
}

std::vector<QueryWord> read_words(const store::IndexTerms& index, std::string_view text, bool stop_words) {
  std::vector<QueryWord> words;
  const std::vector<store::Term> stemmed = index.of(text, store::TermsOf::query);
  store::TermReader reader(text, store::TermsOf::query);
  store::Term term;
  std::size_t place = 0;
  // Both give the same terms in the same order, one of them stemmed.
  for (std::size_t i = 0; i < stemmed.size() && words.size() < kMostTerms && reader.next(term); ++i) {
    // parseHeader gives three terms: two parts and the whole. Only parts count as places.
    if (!term.whole) ++place;
    if (!stop_words && is_stop_word(term.text)) continue;
    const auto same = [&](const QueryWord& word) {
      return word.stem == stemmed[i].text || std::find(word.form_stems.begin(), word.form_stems.end(),
                                                       stemmed[i].text) != word.form_stems.end();
    };
    // "choose" and "chose" in one query are one word: counting both would give it twice the weight.
    if (std::any_of(words.begin(), words.end(), same)) continue;
    QueryWord& word = words.emplace_back();
    word.text = term.text;
    word.stem = stemmed[i].text;
    word.whole = term.whole;
    word.one_sign = is_one_ideograph(term);
    word.place = place;
    if (!term.whole) add_forms(index, word);
  }
  return words;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// The first two bytes as a number: an index into begins_.
std::size_t begin_of(std::string_view word) {
  const auto byte = [&](std::size_t i) {
    return i < word.size() ? static_cast<std::size_t>(static_cast<unsigned char>(lower(word[i]))) : 0;
  };
  return byte(0) << 8 | byte(1);
}

// Letters of one word: at most the first is a capital.
bool is_plain(std::string_view run) {
  return std::all_of(run.begin() + 1, run.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
         ((run[0] | 0x20) >= 'a' && (run[0] | 0x20) <= 'z');
}

}  // namespace

std::string QueryWord::match() const {
  if (forms.empty()) return in_quotes(text) + (one_sign ? " *" : "");
  std::string any = "(" + in_quotes(text);
  for (const std::string& form : forms) any += " OR " + in_quotes(form);
  return any + ")";
}

std::vector<QueryWord> query_words(const store::IndexTerms& index, std::string_view text) {
  std::vector<QueryWord> words = read_words(index, text, false);
  return words.empty() ? read_words(index, text, true) : words;
}

std::set<std::string> stems_of(const std::vector<QueryWord>& words) {
  std::set<std::string> stems;
  for (const QueryWord& word : words) {
    stems.insert(word.stem);
    stems.insert(word.form_stems.begin(), word.form_stems.end());
  }
  return stems;
}

WordCounter::WordCounter(const store::IndexTerms& index, const std::vector<QueryWord>& words)
    : index_(index), size_(words.size()) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto add = [&](const std::string& stem) {
      stems_.emplace(stem, static_cast<std::uint16_t>(i));
      // A stem of two letters may have lost what the word has there: "eyed" is "ei".
      const std::size_t begin = begin_of(stem);
      if (stem.size() > 2)
        begins_[begin] = true;
      else
        std::fill_n(begins_.begin() + static_cast<std::ptrdiff_t>(begin & 0xFF00u), 256, true);
    };
    add(words[i].stem);
    for (const std::string& stem : words[i].form_stems) add(stem);
    if (words[i].one_sign) any_sign_ = true;
  }
}

// The words of the query that a run of letters contains, an identifier's parts and its whole.
const std::vector<std::uint16_t>& WordCounter::words_at(std::string_view run) {
  // Stemming is the slow part, and words repeat: each run is stemmed once for a query.
  const auto [known, is_new] = known_.try_emplace(std::string(run));
  if (!is_new) return known->second;
  for (const store::Term& term : index_.of(run, store::TermsOf::document)) {
    const auto [from, to] = stems_.equal_range(term.text);
    for (auto at = from; at != to; ++at) known->second.push_back(at->second);
    if (!any_sign_) continue;
    for (const auto& [stem, word] : stems_)
      if (stem.size() < term.text.size() && static_cast<unsigned char>(stem.front()) >= 0xE0 &&
          term.text.starts_with(stem))
        known->second.push_back(word);
  }
  return known->second;
}

// The stemmer changes only the end of a word: all letters of a stem but its last are those of the word.
bool WordCounter::may_match(std::string_view run) const {
  if (!begins_[begin_of(run)]) return false;
  return std::any_of(stems_.begin(), stems_.end(), [&](const auto& each) {
    const std::string& stem = each.first;
    return run.size() + 1 >= stem.size() && std::equal(stem.begin(), stem.end() - 1, run.begin(),
                                                       [](char a, char b) { return a == lower(b); });
  });
}

void WordCounter::count(std::string_view text, Found& found) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_letter(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_letter(text[end])) ++end;
    const std::string_view run = text.substr(i, end - i);
    i = end;
    ++number;
    // Identifiers, numbers and other alphabets are always split and stemmed: a part of them may match.
    if (is_plain(run) && !may_match(run)) continue;
    for (const std::uint16_t word : words_at(run)) {
      if (found.counts.empty()) found.counts.resize(size_);
      // The counter has 16 bits.
      if (found.counts[word] < 60'000) ++found.counts[word];
      found.places.emplace_back(number, word);
    }
  }
}

}  // namespace cairn::recall
