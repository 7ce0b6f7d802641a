#include "recall/search.h"

#include <algorithm>
#include <map>

#include "archive/passages.h"
#include "base/hash.h"
#include "base/text.h"
#include "recall/match.h"
#include "store/projects.h"

namespace cairn::recall {

namespace {

using store::Term;
using store::TermReader;
using store::TermsOf;

constexpr std::size_t kExcerpt = 180;       // bytes
constexpr std::size_t kPassageTitle = 200;  // bytes
constexpr std::string_view kFields = "{title body files concepts} : ";

bool is_one_ideograph(const Term& term) {
  return static_cast<unsigned char>(term.text.front()) >= 0xE0 && term.text.size() <= 4 &&
         utf16_length(term.text) <= 2 && term.end - term.start == term.text.size();
}

// The alternatives of a query's words: each term once, and an identifier also as a phrase of its parts.
std::vector<std::string> units_of(std::string_view text, bool stop_words) {
  std::vector<std::string> units;
  const auto add = [&](std::string unit) {
    if (units.size() < kMostTerms && std::find(units.begin(), units.end(), unit) == units.end())
      units.push_back(std::move(unit));
  };
  TermReader reader(text, TermsOf::query);
  Term term;
  while (units.size() < kMostTerms && reader.next(term)) {
    if (!stop_words && is_stop_word(term.text)) continue;
    add(in_quotes(term.text) + (is_one_ideograph(term) ? " *" : ""));
    if (term.whole) add(phrase_of(text.substr(term.start, term.end - term.start)));
  }
  return units;
}

struct Match {
  std::vector<std::string> must;   // filters and phrases
  std::vector<std::string> units;  // phrases and words, for ranking
  std::string none_of;             // " NOT ..." or empty
  bool impossible = false;         // a filter or a query without any term: nothing can match

  std::string text() const {
    std::string out;
    for (const std::string& part : must) out += (out.empty() ? "" : " AND ") + part;
    return out + none_of;
  }
};

std::string any_of(const std::vector<std::string>& units) {
  std::string out;
  for (const std::string& unit : units) out += (out.empty() ? "" : " OR ") + unit;
  return std::string(kFields) + "(" + out + ")";
}

void add_filter(Match& match, std::string_view field, std::string_view value, std::string_view mark = "") {
  if (value.empty()) return;
  const std::string phrase = phrase_of(std::string(mark) + std::string(value));
  if (phrase.empty()) match.impossible = true;
  match.must.push_back(std::string(field) + " : " + phrase);
}

using Scope = std::vector<std::string>;  // the projects to search in; none: all of them

// Any of the projects, each a word of the index.
std::string in_scope(const Scope& scope) {
  std::string out;
  for (const std::string& project : scope)
    out += (out.empty() ? "" : " OR ") + in_quotes("p" + to_hex(project));
  return "scope : (" + out + ")";
}

Match match_of(const Search& search, const Scope& scope, bool every_kind) {
  const Query& query = search.query;
  Match match;
  if (!scope.empty()) match.must.push_back(in_scope(scope));
  if (!every_kind) add_filter(match, "scope", query.kind, "k");
  add_filter(match, "scope", ascii_lower(query.type), "t");
  add_filter(match, "files", query.file);
  add_filter(match, "concepts", query.concept_name);
  for (const std::string& text : query.phrases) {
    const std::string phrase = phrase_of(text);
    if (phrase.empty()) continue;
    match.must.push_back(std::string(kFields) + phrase);
    match.units.push_back(phrase);
  }
  std::vector<std::string> words = units_of(query.words, false);
  if (words.empty()) words = units_of(query.words, true);
  if (!words.empty()) match.must.push_back(any_of(words));
  match.units.insert(match.units.end(), words.begin(), words.end());
  for (const std::string& text : query.without)
    if (const std::string phrase = phrase_of(text); !phrase.empty())
      match.none_of += " NOT " + std::string(kFields) + phrase;
  const bool asked = !query.words.empty() || !query.phrases.empty();
  if (asked && match.units.empty()) match.impossible = true;
  return match;
}

using Ranked = store::Entry;

// For queries with only filters.
Result<std::vector<Ranked>> newest(store::Db& db, const Search& search, const Match& match,
                                   std::size_t count) {
  const Query& q = search.query;
  std::vector<Ranked> found;
  for (const Kind kind : {Kind::observation, Kind::summary, Kind::prompt, Kind::turn, Kind::open}) {
    if (!q.kind.empty() && q.kind != name_of(kind)) continue;
    Match of_kind = match;
    of_kind.must.push_back("scope : " + in_quotes("k" + std::string(name_of(kind))));
    const auto some = TRY(store::newest_entries(db, of_kind.text(), {q.since, q.until}, count));
    found.insert(found.end(), some.begin(), some.end());
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Ranked& a, const Ranked& b) { return a.time > b.time; });
  found.resize(std::min(found.size(), count));
  return found;
}

// A term's share is the score of a query for it alone: BM25 is the sum over the terms.
Result<std::vector<Share>> shares_of(store::Db& db, const Match& match, const RecordId& id) {
  std::vector<Share> shares;
  for (const std::string& unit : match.units) {
    const auto score = TRY(store::score_of(db, std::string(kFields) + unit, id));
    if (!score) continue;
    std::string name = unit;
    std::erase(name, '"');
    shares.push_back({std::string(trim(name)), *score});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.score > b.score; });
  return shares;
}

// The query's terms in the index's form (stemmed), to find them in a text.
std::set<std::string> stems_of(const store::IndexTerms& index, const Match& match) {
  std::set<std::string> stems;
  for (const std::string& unit : match.units)
    for (const Term& term : index.of(unit, TermsOf::query)) stems.insert(term.text);
  return stems;
}

// A ranked record and the others of its turn.
struct Group {
  Ranked best;
  Record record;
  std::vector<RecordId> also;
  std::string matched;  // the best matching text, when another record is shown for the turn
};

// Groups records by turn.
class Groups {
 public:
  explicit Groups(bool by_turn) : by_turn_(by_turn) {}

  void add(const Ranked& ranked, Record record) {
    const auto known =
        by_turn_ && record.prompt_number
            ? turns_.try_emplace({record.session, *record.prompt_number}, all_.size()).first->second
            : all_.size();
    if (known == all_.size()) {
      all_.push_back({ranked, std::move(record), {}});
      return;
    }
    Group& group = all_[known];
    group.also.push_back(record.id);
    // A summary says more than a prompt: it has the result.
    if (group.record.id.kind != Kind::prompt) return;
    group.also.back() = group.record.id;
    group.record = std::move(record);
  }
  std::size_t size() const { return all_.size(); }
  std::vector<Group> take() { return std::move(all_); }

 private:
  bool by_turn_;
  std::vector<Group> all_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> turns_;
};

// The groups of the best records: `wanted` of them if there are as many.
Result<std::vector<Group>> groups_of(store::Db& db, const Search& search, const Scope& scope,
                                     const Match& match, std::size_t wanted) {
  // Few records of a turn match, so this many rows are usually enough.
  for (std::size_t rows = search.by_turn ? wanted * 4 : wanted;; rows *= 4) {
    const auto ranked =
        match.units.empty()
            ? TRY(newest(db, search, match_of(search, scope, true), rows))
            : TRY(store::best_entries(db, match.text(), {search.query.since, search.query.until}, rows));
    Groups groups(search.by_turn);
    for (const Ranked& each : ranked) {
      auto record = TRY(load_record(db, each.id));
      // The index has only the beginning of a very long project name, so compare the whole one.
      if (!record || (!scope.empty() && std::count(scope.begin(), scope.end(), record->project) == 0))
        continue;
      groups.add(each, *std::move(record));
    }
    if (groups.size() >= wanted || ranked.size() < rows || !search.by_turn) return groups.take();
  }
}

// For a summary `cairn show` prints the whole turn, for a text only that text: so show the summary.
Status stand_for_turn(store::Db& db, Group& group) {
  const auto is_text = [](const RecordId& id) { return id.kind == Kind::turn; };
  const bool has_text =
      is_text(group.record.id) || std::any_of(group.also.begin(), group.also.end(), is_text);
  if (!has_text || group.record.id.kind == Kind::summary) return {};
  auto summary = TRY(summary_of(db, group.record));
  if (!summary) return {};
  std::erase(group.also, summary->id);
  group.also.insert(group.also.begin(), group.record.id);
  group.matched = std::move(group.record.body);
  group.record = *std::move(summary);
  return {};
}

bool any_of_kinds(Kind kind, std::initializer_list<Kind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// The piece of the record that matched, unless its title shows it.
Marked passage(const store::IndexTerms& index, const Record& record, const Marked& title,
               const std::set<std::string>& stems) {
  Marked piece = excerpt(index, record.body, stems, kExcerpt);
  // The title of a prompt or a text is its beginning: do not show the same text twice.
  const bool is_text = any_of_kinds(record.id.kind, {Kind::prompt, Kind::turn, Kind::passage});
  if (is_text && !piece.text.starts_with("…")) return {};
  if (piece.text.empty() && title.marks.empty()) piece = excerpt(index, record.names, stems, kExcerpt);
  return piece;
}

// The position of transcript passages among the groups: after those that contain every word of the query, and
// always after the three best if each word occurs in some record.
struct Placed {
  std::size_t at = 0;
  std::set<std::string> sessions;  // that have a hit with every word
};

constexpr std::size_t kBest = 3;

Placed place_of_passages(const store::IndexTerms& index, const std::vector<Group>& groups,
                         const PassageQuery& query, std::size_t wanted, bool known) {
  Placed placed;
  for (std::size_t i = 0; i < std::min(groups.size(), wanted); ++i) {
    const Group& group = groups[i];
    const Record& record = group.record;
    const bool complete = contains_all(
        index, record.title + "\n" + record.body + "\n" + record.names + "\n" + group.matched, query.words);
    if (complete || (known && i < kBest)) placed.at = i + 1;
    if (complete) placed.sessions.insert(record.session);
  }
  return placed;
}

Result<bool> has_every_word(store::Db& db, const Scope& scope, const PassageQuery& query) {
  for (const std::string& word : query.words) {
    std::string match = std::string(kFields) + "(" + word_match(word) + ")";
    if (!scope.empty()) match = in_scope(scope) + " AND " + match;
    if (!TRY(store::has_match(db, match))) return false;
  }
  return true;
}

// Adds passages of transcripts: those with every word of the query, and at the end, when there is room, those
// with some of them.
Status add_passages(store::Db& db, const Search& search, const Scope& scope, const store::IndexTerms& index,
                    std::size_t wanted, std::vector<Group>& groups) {
  const Query& q = search.query;
  const PassageQuery query = passage_query(q);
  const bool asked = (q.kind.empty() || q.kind == name_of(Kind::turn)) && q.type.empty() && q.file.empty() &&
                     q.concept_name.empty();
  if (!search.disk || !asked || query.all.empty()) return {};
  const store::Period period{q.since, q.until};
  const auto add = [&](const std::string& match, Placed placed) -> Status {
    for (const store::PassageMatch& found : TRY(store::best_passages(db, match, scope, period, wanted))) {
      if (!placed.sessions.insert(found.session).second) continue;
      Group group;
      group.best = {{Kind::passage, found.id}, found.score, 0};
      group.record.id = group.best.id;
      group.record.session = found.session;
      groups.insert(groups.begin() + static_cast<std::ptrdiff_t>(placed.at++), std::move(group));
    }
    return {};
  };
  const bool known = TRY(has_every_word(db, scope, query));
  TRY(add(query.all, place_of_passages(index, groups, query, wanted, known)));
  if (groups.size() >= wanted) return {};
  Placed last{groups.size(), {}};
  for (const Group& group : groups) last.sessions.insert(group.record.session);
  return add(query.any, std::move(last));
}

// Reads what is shown of a passage.
Status load_passage(store::Db& db, const Search& search, Hit& hit) {
  hit.passage = TRY(store::find_passage(db, hit.record.id.row));
  if (!hit.passage) return {};
  Record& record = hit.record;
  record.project = hit.passage->project;
  record.prompt_number = hit.passage->prompt_number;
  record.type = name_of(Kind::turn);
  record.time = hit.passage->at;
  auto text = archive::passage_text(db, *search.disk, search.archive, *hit.passage);
  if (text) {
    record.body = std::move(text->text);
    record.origins = std::move(text->origins);
  } else {
    record.body = "The archive cannot be read here (" + text.error().message + "): `cairn backup verify`";
  }
  record.title = one_line(visible(record.body), kPassageTitle);
  return {};
}

Result<std::vector<std::string>> absent_identifiers(store::Db& db, const Search& search, const Scope& scope) {
  std::vector<std::string> absent;
  TermReader reader(search.query.words, TermsOf::query);
  Term term;
  for (std::size_t count = 0; count < kMostTerms && reader.next(term);) {
    if (!term.whole) continue;
    ++count;
    std::string match = std::string(kFields) + in_quotes(term.text);
    if (!scope.empty()) match = in_scope(scope) + " AND " + match;
    if (TRY(store::has_match(db, match))) continue;
    if (search.disk && !TRY(store::best_passages(db, in_quotes(term.text), scope, {}, 1)).empty()) continue;
    std::string name = search.query.words.substr(term.start, term.end - term.start);
    if (std::find(absent.begin(), absent.end(), name) == absent.end()) absent.push_back(std::move(name));
  }
  return absent;
}

}  // namespace

Result<Found> search(store::Db& db, const Search& search) {
  const Scope scope = search.project ? TRY(store::scope_of(db, *search.project)) : Scope();
  const Match match = match_of(search, scope, false);
  Found out;
  if (match.impossible) return out;
  const std::size_t wanted = search.offset + search.limit + 1;
  std::vector<Group> groups = TRY(groups_of(db, search, scope, match, wanted));
  const store::IndexTerms index = TRY(store::IndexTerms::open(db));
  TRY(add_passages(db, search, scope, index, wanted, groups));
  out.more = groups.size() >= wanted;
  const std::set<std::string> stems = stems_of(index, match);
  for (std::size_t i = search.offset; i < std::min(groups.size(), wanted - 1); ++i) {
    Hit hit;
    if (search.by_turn && search.query.kind.empty()) TRY(stand_for_turn(db, groups[i]));
    hit.score = groups[i].best.score;
    hit.record = std::move(groups[i].record);
    hit.also = std::move(groups[i].also);
    if (hit.record.id.kind == Kind::passage) TRY(load_passage(db, search, hit));
    hit.title = mark(index, hit.record.title, stems);
    hit.excerpt = groups[i].matched.empty() ? passage(index, hit.record, hit.title, stems)
                                            : excerpt(index, groups[i].matched, stems, kExcerpt);
    if (search.explain && hit.record.id.kind != Kind::passage)
      hit.shares = TRY(shares_of(db, match, groups[i].best.id));
    out.hits.push_back(std::move(hit));
  }
  if (!out.hits.empty()) out.absent = TRY(absent_identifiers(db, search, scope));
  return out;
}

}  // namespace cairn::recall
