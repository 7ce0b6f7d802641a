#include "recall/rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "recall/match.h"
#include "recall/surroundings.h"

namespace cairn::recall {

// 1. weigh() estimates how frequent each word of the query is; the rarer, the more it weighs.
// 2. candidates_of() asks the index for entries with any of the rarer words.
// 3. Surroundings reads their texts and what was said near them, and counts the words of the query in each.
// 4. Scorer adds up the shares of each candidate, and rank() sorts.

namespace {

// The constants of BM25F (docs/recall-figures.md). A word counts twice in the title and among the names, half
// in the date, and in a neighbour by its distance.
constexpr double kK1 = 0.9, kB = 0.4;
constexpr std::array<double, kReach> kNeighbours = {0.35, 0.25, 0.15, 0.1};
constexpr double kTitle = 2.0, kNames = 2.0, kDate = 0.5;
// A passage of a transcript is long: that it has a word says less than for a record.
constexpr double kLongText = 0.6;

// Features, as shares of the sum of the words' weights.
constexpr double kAllWords = 0.25;    // the share of the query's words in the record or near it, squared
constexpr double kAdjacent = 0.15;    // words that follow each other in the query do so in the record
constexpr double kWhole = 0.3;        // of an identifier's weight: the record has it whole
constexpr double kFile = 0.2;         // the record names the file
constexpr double kThen = 0.35;        // it happened when the query says
constexpr double kRecent = 0.06;      // today; half of it after two months
constexpr double kKindOfWork = 0.06;  // the query asks for a decision or a fix, and it is one

constexpr std::size_t kExactly = 1000;    // entries up to which a word's frequency is counted
constexpr std::size_t kScanned = 5000;    // entries that bm25() is computed for
constexpr std::size_t kCandidates = 120;  // entries that are asked of the index

std::string in_projects(const std::vector<std::string>& scope) {
  std::string out;
  for (const std::string& project : scope) out += (out.empty() ? "" : " OR ") + project_word(project);
  return "scope : (" + out + ")";
}

std::string joined_words(const std::vector<const QueryWord*>& words, std::string_view by) {
  std::string out;
  for (const QueryWord* word : words) out += (out.empty() ? "" : std::string(by)) + word->match();
  return std::string(kFields) + "(" + out + ")";
}

// The first occurrences of a word count most (BM25).
double saturated(double count) {
  return count * (kK1 + 1) / (kK1 + count);
}

// Words that follow each other in the query.
std::vector<std::pair<std::uint16_t, std::uint16_t>> pairs_of(const std::vector<QueryWord>& words) {
  std::vector<std::pair<std::uint16_t, std::uint16_t>> pairs;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t k = 0; k < words.size(); ++k)
      if (!words[i].whole && !words[k].whole && words[k].place == words[i].place + 1)
        pairs.emplace_back(static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(k));
  return pairs;
}

// Whether `second` is somewhere the next word after `first`, or in the same identifier.
bool follow(const WordCounter::Found& found, std::uint16_t first, std::uint16_t second) {
  for (std::size_t i = 0; i < found.places.size(); ++i) {
    if (found.places[i].second != first) continue;
    for (std::size_t k = i + 1; k < found.places.size() && found.places[k].first <= found.places[i].first + 1;
         ++k)
      if (found.places[k].second == second) return true;
  }
  return false;
}

// Scores the records of one query.
class Scorer {
 public:
  Scorer(WordCounter& counter, double average_length, const Asked& asked, bool explain)
      : counter_(counter),
        average_length_(average_length),
        asked_(asked),
        explain_(explain),
        total_weight_(asked.weight()),
        pairs_(pairs_of(asked.words)) {}

  std::optional<RankedRecord> score(const Row& row) {
    RankedRecord out;
    out.id = row.text.id;
    out.turn = turn_of(row.text);
    const WordCounter::Found& day = day_of(row.text.at);
    double near_share = 0, covered = 0;
    Sums sums;
    bool any = false;
    for (std::size_t w = 0; w < asked_.words.size(); ++w) {
      // Words near a record raise its score only by what they add to its own: near_share is the difference.
      const double own = own_count(row, w), dated = own + kDate * day.count(w);
      const double with_near = dated + near_count(row, w);
      const double weight = asked_.words[w].weight;
      const double alone = weight * saturated(dated);
      near_share += weight * saturated(with_near) - alone;
      any = any || own > 0;
      if (own > 0) covered += weight;
      sums.has += weight * (own > 0 ? 1 : std::min(1.0, with_near));
      sums.dates += alone - weight * saturated(own);
      if (alone > 0) add(out, in_quotes(asked_.words[w].text), alone);
    }
    // A record matches by its own words. Its date and its neighbours alone make no hit.
    if (!any && !asked_.words.empty()) return std::nullopt;
    out.covered = total_weight_ > 0 ? covered / total_weight_ : 1;
    add(out, "around it", near_share);
    add_features(out, row, sums);
    return out;
  }

 private:
  // Sums over the words of the query.
  struct Sums {
    double has = 0;    // the weights of those that are in the record, its date or around it
    double dates = 0;  // what the words of its date added to the score
  };

  void add(RankedRecord& out, std::string name, double score) const {
    if (score == 0) return;
    out.score += score;
    if (explain_) out.shares.push_back({std::move(name), score});
  }

  // BM25: a word says less in a text that is longer than the average.
  double normal(const Row& row) const { return 1 - kB + kB * row.length / average_length_; }

  double own_count(const Row& row, std::size_t word) const {
    return (kTitle * row.title.count(word) + row.body.count(word)) / normal(row) +
           kNames * row.names.count(word);
  }

  double near_count(const Row& row, std::size_t word) const {
    double sum = 0;
    const Row *back = row.before, *on = row.after;
    for (const double weight : kNeighbours) {
      for (const Row* near : {back, on})
        if (near) sum += weight * (near->title.count(word) + near->body.count(word)) / normal(*near);
      back = back ? back->before : nullptr;
      on = on ? on->after : nullptr;
    }
    return sum;
  }

  // The words of the record's local day. Cached by quarter of an hour: in every time zone midnight falls on
  // one.
  const WordCounter::Found& day_of(std::int64_t at) {
    const auto [known, is_new] = days_.try_emplace(at / 900'000);
    if (is_new) counter_.count(day_in_words(from_epoch_ms(at)), known->second);
    return known->second;
  }

  void add_features(RankedRecord& out, const Row& row, const Sums& sums) const {
    // Squared: with half of the words a record gets a quarter of this.
    const double share = total_weight_ > 0 ? sums.has / total_weight_ : 1;
    add(out, "share of the words", kAllWords * total_weight_ * share * share);
    if (!pairs_.empty()) {
      const auto together = std::count_if(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
        return follow(row.title, pair.first, pair.second) || follow(row.body, pair.first, pair.second);
      });
      add(out, "words together",
          kAdjacent * total_weight_ * static_cast<double>(together) / static_cast<double>(pairs_.size()));
    }
    double identifiers = 0;
    for (std::size_t w = 0; w < asked_.words.size(); ++w)
      if (asked_.words[w].whole && row.title.count(w) + row.body.count(w) + row.names.count(w) > 0)
        identifiers += kWhole * asked_.words[w].weight;
    add(out, "whole identifier", identifiers);
    if (!asked_.file.empty() && row.text.names.find(asked_.file) != std::string::npos)
      add(out, "file", kFile * total_weight_);
    const WallTime at = from_epoch_ms(row.text.at);
    // The words of its date may have been counted for this already.
    if (asked_.about && at >= asked_.about->from && at <= asked_.about->to)
      add(out, "time asked for", std::max(0.0, kThen * total_weight_ - sums.dates));
    const double age =
        std::max<double>(0, static_cast<double>(epoch_ms(asked_.now) - row.text.at)) / 86'400'000;
    add(out, "recent", kRecent * total_weight_ / (1 + age / 60));
    add_kind_of_work(out, row);
  }

  void add_kind_of_work(RankedRecord& out, const Row& row) const {
    const auto asks = [&](std::initializer_list<std::string_view> stems) {
      return std::any_of(asked_.words.begin(), asked_.words.end(), [&](const QueryWord& word) {
        return std::find(stems.begin(), stems.end(), word.stem) != stems.end();
      });
    };
    const bool decision =
        row.text.type == "decision" && asks({"decid", "decis", "chose", "choos", "instead"});
    const bool fix = row.text.type == "bugfix" && asks({"fix", "error", "fail", "bug", "broken", "crash"});
    if (decision || fix) add(out, "kind of work", kKindOfWork * total_weight_);
  }

  WordCounter& counter_;
  double average_length_;
  const Asked& asked_;
  bool explain_;
  double total_weight_;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> pairs_;
  std::map<std::int64_t, WordCounter::Found> days_;
};

// The candidates of the index, the best first.
Result<std::vector<store::Entry>> candidates_of(store::Db& db, const Asked& asked, std::size_t limit) {
  if (asked.words.empty()) return store::candidates(db, asked.match(""), asked.period, kScanned, limit);
  std::vector<const QueryWord*> by_frequency;
  for (const QueryWord& word : asked.words)
    // A word that no entry has would make the query with AND empty.
    if (word.frequency > 0) by_frequency.push_back(&word);
  if (by_frequency.empty()) return std::vector<store::Entry>();
  std::stable_sort(by_frequency.begin(), by_frequency.end(),
                   [](const auto* a, const auto* b) { return a->frequency < b->frequency; });
  // Frequent words match too many entries and say little; the two rarest are always used.
  std::size_t used = 0;
  double sum = 0;
  while (used < by_frequency.size() && (used < 2 || sum + by_frequency[used]->frequency <= kScanned))
    sum += by_frequency[used++]->frequency;
  std::vector<store::Entry> found;
  std::set<std::pair<int, std::int64_t>> seen;
  const auto add = [&](std::vector<store::Entry> more) {
    for (store::Entry& entry : more)
      if (seen.emplace(static_cast<int>(entry.id.kind), entry.id.row).second) found.push_back(entry);
  };
  // When more entries match than are scanned, those with every word are taken first.
  if (by_frequency.size() > 1 && (used < by_frequency.size() || sum > kScanned))
    add(TRY(store::candidates(db, asked.match(joined_words(by_frequency, " AND ")), asked.period, kScanned,
                              limit / 2)));
  by_frequency.resize(used);
  add(TRY(
      store::candidates(db, asked.match(joined_words(by_frequency, " OR ")), asked.period, kScanned, limit)));
  return found;
}

}  // namespace

std::optional<Turn> turn_of(const store::RankedText& text) {
  if (text.session == 0 || !text.prompt_number) return std::nullopt;
  return Turn(text.session, *text.prompt_number);
}

bool Asked::is_in_scope(const std::string& project) const {
  return scope.empty() || std::find(scope.begin(), scope.end(), project) != scope.end();
}

double Asked::weight() const {
  double sum = 0;
  for (const QueryWord& word : words) sum += word.weight;
  return sum;
}

std::string Asked::match(const std::string& expression) const {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : " AND ") + part; };
  if (!scope.empty() && !is_everything) add(in_projects(scope));
  for (const std::string& part : must) add(part);
  if (!expression.empty()) add(expression);
  return out + none_of;
}

Status weigh(store::Db& db, Asked& asked) {
  asked.is_everything = !asked.scope.empty() && TRY(store::are_all_projects(db, asked.scope));
  // Without the filters of the query: a word has the same weight whatever is filtered.
  Asked plain;
  plain.scope = asked.scope;
  plain.is_everything = asked.is_everything;
  const bool all = asked.scope.empty() || asked.is_everything;
  const double entries = std::max(1.0, all ? TRY(store::estimated_entries(db))
                                           : TRY(store::estimated_matches(db, plain.match(""), kExactly)));
  for (QueryWord& word : asked.words) {
    const auto found =
        TRY(store::estimated_frequency(db, plain.match(std::string(kFields) + word.match()),
                                       plain.match(std::string(kOwnText) + word.match()), kExactly));
    word.frequency = found.any;
    // A word weighs more the rarer it is in what was said. Names are in many entries without having been
    // said.
    const double known = std::min(found.own > 0 ? found.own : found.any, entries);
    word.weight = std::log(1 + (entries - known + 0.5) / (known + 0.5));
  }
  return {};
}

Result<std::vector<RankedRecord>> rank(store::Db& db, const store::IndexTerms& index, const Asked& asked,
                                       std::size_t limit, bool explain) {
  WordCounter counter(index, asked.words);
  const bool is_filtered =
      !asked.must.empty() || !asked.none_of.empty() || asked.period.since || asked.period.until;
  // Neighbours are not checked against filters, so with a filter they are no candidates.
  Surroundings surroundings(db, counter, !is_filtered);
  TRY(surroundings.read(TRY(candidates_of(db, asked, std::max(limit, kCandidates))), asked.scope));
  Scorer scorer(counter, surroundings.average(), asked, explain);
  std::vector<RankedRecord> ranked;
  surroundings.each_candidate([&](const Row& row) {
    if (auto record = scorer.score(row)) ranked.push_back(*std::move(record));
  });
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedRecord& a, const RankedRecord& b) {
    return a.score != b.score ? a.score > b.score : a.id.row > b.id.row;
  });
  if (ranked.size() > limit) ranked.resize(limit);
  return ranked;
}

double score_of_long_text(const Asked& asked, const std::vector<bool>& has) {
  double sum = 0, covered = 0;
  const double whole = asked.weight();
  for (std::size_t w = 0; w < asked.words.size(); ++w) {
    if (!has[w]) continue;
    // The index of long texts says only whether a word is there: it counts as occurring kLongText times.
    sum += asked.words[w].weight * saturated(kLongText) * (asked.words[w].whole ? 1 + kWhole : 1);
    covered += asked.words[w].weight;
  }
  if (whole > 0) sum += kAllWords * whole * (covered / whole) * (covered / whole);
  return sum;
}

}  // namespace cairn::recall
