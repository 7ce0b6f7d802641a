#include "recall/rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "recall/match.h"

namespace cairn::recall {

namespace {

// BM25F, as measured on conversations (docs/decisions): neighbours by their distance, a header twice, a date
// half.
constexpr double kK1 = 0.9, kB = 0.4;
constexpr std::array kNeighbours = {0.35, 0.25, 0.15, 0.1};
constexpr double kTitle = 2.0, kNames = 2.0, kDate = 0.5;
// A passage of a transcript is long: that it has a word says less than for a record.
constexpr double kLongText = 0.6;

// Features, as shares of the sum of the words' weights.
constexpr double kAllWords = 0.25;    // every word is in it
constexpr double kAdjacent = 0.15;    // words that follow each other in the query do so in it
constexpr double kWhole = 0.3;        // of an identifier's weight: it is in it as a whole
constexpr double kFile = 0.2;         // the file is named in it
constexpr double kThen = 0.35;        // it happened when the query says
constexpr double kRecent = 0.06;      // today; half of it after two months
constexpr double kKindOfWork = 0.06;  // the query asks for a decision or a fix, and it is one

constexpr std::size_t kExactly = 1000;    // entries up to which a word's frequency is counted
constexpr std::size_t kScanned = 5000;    // entries that bm25() is computed for
constexpr std::size_t kCandidates = 120;  // whose surroundings are read
constexpr std::size_t kReach = 4;         // neighbours on each side
constexpr std::size_t kDeep = 50;         // of the best candidates the neighbours are candidates too
constexpr std::size_t kNeighbourBytes = 2000;

std::string in_projects(const std::vector<std::string>& scope) {
  std::string out;
  for (const std::string& project : scope) out += (out.empty() ? "" : " OR ") + project_word(project);
  return "scope : (" + out + ")";
}

std::string any_word(const std::vector<const QueryWord*>& words, std::string_view by) {
  std::string out;
  for (const QueryWord* word : words) out += (out.empty() ? "" : std::string(by)) + word->match();
  return std::string(kFields) + "(" + out + ")";
}

// A record with what counts for its score.
struct Row {
  store::RankedText text;
  WordCounter::Found title, body, names;
  double length = 0;
  bool is_candidate = false;
};

using Key = std::tuple<std::int64_t, int, std::int64_t>;  // the order in a session

Key key_of(const store::RankedText& text) {
  return {text.at, static_cast<int>(text.id.kind), text.id.row};
}

// The records of the sessions around the candidates.
class Sessions {
 public:
  Sessions(store::Db& db, const store::IndexTerms& index, const Asked& asked)
      : db_(db), asked_(asked), counter_(index, asked.words) {}

  Status add(const store::Entry& entry, std::size_t reach) {
    auto text = TRY(store::ranked_text(db_, entry.id));
    // The index has only the beginning of a very long project name, so compare the whole one.
    if (!text || !is_in_scope(text->project)) return {};
    const std::int64_t session = text->session;
    Row& row = take(*std::move(text));
    row.is_candidate = true;
    return session == 0 || reach == 0 ? Status() : surround(session, row, reach);
  }

  template <class Visit>
  void each(Visit visit) {
    for (auto& [session, rows] : sessions_) {
      std::vector<Row*> order;
      for (auto& [key, row] : rows) order.push_back(&row);
      for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i]->is_candidate) visit(order, i);
    }
  }
  double average() const { return rows_ == 0 ? 1 : std::max(1.0, bytes_ / static_cast<double>(rows_)); }
  WordCounter& counter() { return counter_; }

 private:
  bool is_in_scope(const std::string& project) const {
    return asked_.scope.empty() || std::count(asked_.scope.begin(), asked_.scope.end(), project) > 0;
  }

  // Only the index can tell whether a neighbour passes the filters.
  bool is_filtered() const {
    return !asked_.must.empty() || !asked_.none_of.empty() || asked_.period.since || asked_.period.until;
  }

  // Records without a session have no neighbours.
  Row& take(store::RankedText text) {
    const std::int64_t session =
        text.session != 0 ? text.session : -(text.id.row * 8 + static_cast<int>(text.id.kind));
    const Key key = key_of(text);
    const auto [at, is_new] = sessions_[session].try_emplace(key);
    Row& row = at->second;
    if (!is_new) return row;
    row.text = std::move(text);
    counter_.count(row.text.title, row.title);
    counter_.count(row.text.body, row.body);
    counter_.count(row.text.names, row.names);
    row.length = static_cast<double>(row.text.title.size() + row.text.body.size());
    bytes_ += row.length;
    ++rows_;
    return row;
  }

  // Whether enough was read around it for another candidate.
  bool is_surrounded(std::int64_t session, const Key& key, std::size_t reach) const {
    const auto& rows = sessions_.at(session);
    const auto at = rows.find(key);
    return static_cast<std::size_t>(std::distance(rows.begin(), at)) > reach &&
           static_cast<std::size_t>(std::distance(at, rows.end())) > reach + 1;
  }

  Status surround(std::int64_t session, const Row& row, std::size_t reach) {
    const bool deep = reach > kReach;
    const Key own = key_of(row.text);
    if (sessions_[session].size() < 400 && is_surrounded(session, own, reach)) return {};
    const store::RankedText anchor{row.text.id, session, row.text.project, {}, row.text.at, {}, {}, {}, {}};
    for (const bool later : {false, true}) {
      auto found = TRY(store::said_around(db_, session, anchor, later, reach, kNeighbourBytes));
      std::erase_if(found, [&](const auto& text) { return text.project != anchor.project; });
      std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
        return later ? key_of(a) < key_of(b) : key_of(b) < key_of(a);
      });
      for (std::size_t i = 0; i < std::min(found.size(), reach); ++i) {
        Row& near = take(std::move(found[i]));
        if (deep && i < kReach && !is_filtered() && !is_empty(near)) near.is_candidate = true;
      }
    }
    return {};
  }

  static bool is_empty(const Row& row) {
    const auto none = [](const WordCounter::Found& found) { return found.places.empty(); };
    return none(row.title) && none(row.body) && none(row.names);
  }

  store::Db& db_;
  const Asked& asked_;
  WordCounter counter_;
  std::map<std::int64_t, std::map<Key, Row>> sessions_;
  double bytes_ = 0;
  std::size_t rows_ = 0;
};

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
  Scorer(Sessions& sessions, const Asked& asked, bool explain)
      : sessions_(sessions),
        asked_(asked),
        explain_(explain),
        whole_(asked.weight()),
        pairs_(pairs_of(asked.words)) {}

  std::optional<RankedRecord> score(const std::vector<Row*>& order, std::size_t at) {
    const Row& row = *order[at];
    RankedRecord out;
    out.id = row.text.id;
    const WordCounter::Found& day = day_of(row.text.at);
    double near_share = 0, covered = 0;
    bool any = false;
    for (std::size_t w = 0; w < asked_.words.size(); ++w) {
      const double own = own_count(row, w), dated = own + kDate * day.counts[w];
      const double with_near = dated + near_count(order, at, w);
      const double weight = asked_.words[w].weight;
      const double alone = weight * saturated(dated);
      near_share += weight * saturated(with_near) - alone;
      any = any || own > 0;
      if (own > 0) covered += weight;
      if (alone > 0) add(out, in_quotes(asked_.words[w].text), alone);
    }
    if (!any && !asked_.words.empty()) return std::nullopt;
    out.covered = whole_ > 0 ? covered / whole_ : 1;
    add(out, "around it", near_share);
    add_features(out, row);
    return out;
  }

 private:
  void add(RankedRecord& out, std::string name, double score) const {
    if (score == 0) return;
    out.score += score;
    if (explain_) out.shares.push_back({std::move(name), score});
  }

  double normal(const Row& row) const { return 1 - kB + kB * row.length / sessions_.average(); }

  double own_count(const Row& row, std::size_t word) const {
    return (kTitle * row.title.counts[word] + row.body.counts[word]) / normal(row) +
           kNames * row.names.counts[word];
  }

  double near_count(const std::vector<Row*>& order, std::size_t at, std::size_t word) const {
    double sum = 0;
    for (std::size_t distance = 1; distance <= kNeighbours.size(); ++distance) {
      const auto weigh_in = [&](const Row& row) {
        sum += kNeighbours[distance - 1] * (row.title.counts[word] + row.body.counts[word]) / normal(row);
      };
      if (at >= distance) weigh_in(*order[at - distance]);
      if (at + distance < order.size()) weigh_in(*order[at + distance]);
    }
    return sum;
  }

  // The words of a day, each day once.
  const WordCounter::Found& day_of(std::int64_t at) {
    const auto [known, is_new] = days_.try_emplace(at / 3'600'000);
    if (is_new) sessions_.counter().count(day_in_words(from_epoch_ms(at)), known->second);
    return known->second;
  }

  void add_features(RankedRecord& out, const Row& row) const {
    add(out, "has all words", kAllWords * whole_ * out.covered * out.covered);
    if (!pairs_.empty()) {
      const auto together = std::count_if(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
        return follow(row.title, pair.first, pair.second) || follow(row.body, pair.first, pair.second);
      });
      add(out, "words together",
          kAdjacent * whole_ * static_cast<double>(together) / static_cast<double>(pairs_.size()));
    }
    double identifiers = 0;
    for (std::size_t w = 0; w < asked_.words.size(); ++w)
      if (asked_.words[w].whole && row.title.counts[w] + row.body.counts[w] + row.names.counts[w] > 0)
        identifiers += kWhole * asked_.words[w].weight;
    add(out, "whole identifier", identifiers);
    if (!asked_.file.empty() && row.text.names.find(asked_.file) != std::string::npos)
      add(out, "file", kFile * whole_);
    const WallTime at = from_epoch_ms(row.text.at);
    if (asked_.about && at >= asked_.about->from && at <= asked_.about->to) add(out, "then", kThen * whole_);
    const double age =
        std::max<double>(0, static_cast<double>(epoch_ms(asked_.now) - row.text.at)) / 86'400'000;
    add(out, "recent", kRecent * whole_ / (1 + age / 60));
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
    if (decision || fix) add(out, "kind of work", kKindOfWork * whole_);
  }

  Sessions& sessions_;
  const Asked& asked_;
  bool explain_;
  double whole_;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> pairs_;
  std::map<std::int64_t, WordCounter::Found> days_;
};

// The candidates of the index, the best first.
Result<std::vector<store::Entry>> candidates_of(store::Db& db, const Asked& asked, std::size_t limit) {
  if (asked.words.empty()) return store::candidates(db, asked.match(""), asked.period, kScanned, limit);
  std::vector<const QueryWord*> rare;
  for (const QueryWord& word : asked.words)
    if (word.frequency > 0) rare.push_back(&word);
  if (rare.empty()) return std::vector<store::Entry>();
  std::stable_sort(rare.begin(), rare.end(),
                   [](const auto* a, const auto* b) { return a->frequency < b->frequency; });
  // Frequent words match too many entries and say little; the two rarest are always used.
  std::size_t used = 0;
  double sum = 0;
  while (used < rare.size() && (used < 2 || sum + rare[used]->frequency <= kScanned))
    sum += rare[used++]->frequency;
  std::vector<store::Entry> found;
  std::set<std::pair<int, std::int64_t>> seen;
  const auto add = [&](std::vector<store::Entry> more) {
    for (store::Entry& entry : more)
      if (seen.emplace(static_cast<int>(entry.id.kind), entry.id.row).second) found.push_back(entry);
  };
  // Where the scan does not reach all of them, those with every word come first.
  if (rare.size() > 1 && (used < rare.size() || sum > kScanned))
    add(TRY(store::candidates(db, asked.match(any_word(rare, " AND ")), asked.period, kScanned, limit / 2)));
  rare.resize(used);
  add(TRY(store::candidates(db, asked.match(any_word(rare, " OR ")), asked.period, kScanned, limit)));
  return found;
}

}  // namespace

double Asked::weight() const {
  double sum = 0;
  for (const QueryWord& word : words) sum += word.weight;
  return sum;
}

std::string Asked::match(const std::string& any) const {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : " AND ") + part; };
  if (!scope.empty() && !is_everything) add(in_projects(scope));
  for (const std::string& part : must) add(part);
  if (!any.empty()) add(any);
  return out + none_of;
}

Status weigh(store::Db& db, Asked& asked) {
  asked.is_everything = !asked.scope.empty() && TRY(store::are_all_projects(db, asked.scope));
  Asked plain;
  plain.scope = asked.scope;
  plain.is_everything = asked.is_everything;
  const bool all = asked.scope.empty() || asked.is_everything;
  const double entries = std::max(1.0, all ? TRY(store::estimated_entries(db))
                                           : TRY(store::estimated_matches(db, plain.match(""), kExactly)));
  for (QueryWord& word : asked.words) {
    word.frequency =
        TRY(store::estimated_matches(db, plain.match(std::string(kFields) + word.match()), kExactly));
    const double known = std::min(word.frequency, entries);
    word.weight = std::log(1 + (entries - known + 0.5) / (known + 0.5));
  }
  return {};
}

Result<std::vector<RankedRecord>> rank(store::Db& db, const store::IndexTerms& index, const Asked& asked,
                                       std::size_t limit, bool explain) {
  Sessions sessions(db, index, asked);
  std::size_t count = 0;
  for (const store::Entry& entry : TRY(candidates_of(db, asked, std::max(limit, kCandidates)))) {
    TRY(sessions.add(entry, count < kDeep ? 2 * kReach : count < kCandidates ? kReach : 0));
    ++count;
  }
  Scorer scorer(sessions, asked, explain);
  std::vector<RankedRecord> ranked;
  sessions.each([&](const std::vector<Row*>& order, std::size_t at) {
    if (auto record = scorer.score(order, at)) ranked.push_back(*std::move(record));
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
    sum += asked.words[w].weight * saturated(kLongText) * (asked.words[w].whole ? 1 + kWhole : 1);
    covered += asked.words[w].weight;
  }
  if (whole > 0) sum += kAllWords * whole * (covered / whole) * (covered / whole);
  return sum;
}

}  // namespace cairn::recall
