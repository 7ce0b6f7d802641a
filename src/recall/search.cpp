#include "recall/search.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "recall/freshness.h"
#include "recall/long_texts.h"
#include "recall/match.h"
#include "store/documents.h"
#include "store/projects.h"
#include "store/sessions.h"

namespace cairn::recall {

// The index field `scope` holds words that no text has: the project ("p" and its name in hex), the kind of
// the record ("k" and its name) and the type of an observation ("t" and its name). So these filters are
// part of the match.

namespace {

constexpr std::size_t kExcerpt = 180;  // bytes
// The first so many turns are checked for files that changed. The number is the same for every page of a
// search: otherwise the pages would disagree about the order.
constexpr std::size_t kLookedAt = 60;
// How many records are ranked for so many wanted turns. Few steps, so that the pages of one search agree.
constexpr std::size_t ranked_for(std::size_t wanted) {
  return wanted <= 40 ? 200 : wanted <= 200 ? 1000 : 5000;
}

void add_filter(Asked& asked, bool& impossible, std::string_view field, std::string_view value,
                std::string_view mark = "") {
  if (value.empty()) return;
  // A value without a letter or digit has no term, so nothing can match it.
  const std::string phrase = phrase_of(std::string(mark) + std::string(value));
  if (phrase.empty()) impossible = true;
  asked.must.push_back(std::string(field) + " : " + phrase);
}

// What is asked; `impossible`: a filter or a query without any term, nothing can match.
Asked asked_of(const store::IndexTerms& index, const Search& search, std::vector<std::string> scope,
               bool& impossible) {
  const Query& query = search.query;
  Asked asked;
  asked.scope = std::move(scope);
  asked.period = {query.since, query.until};
  asked.about = query.about;
  asked.file = query.file;
  asked.now = query.now;
  add_filter(asked, impossible, "scope", query.kind, "k");
  add_filter(asked, impossible, "scope", ascii_lower(query.type), "t");
  add_filter(asked, impossible, "files", query.file);
  add_filter(asked, impossible, "concepts", query.concept_name);
  std::string words = query.words;
  for (const std::string& text : query.phrases) {
    const std::string phrase = phrase_of(text);
    if (phrase.empty()) continue;
    asked.must.push_back(std::string(kFields) + phrase);
    // A phrase must match, and its words also count for the score.
    words += " " + text;
  }
  asked.words = query_words(index, words);
  for (const std::string& text : query.without)
    if (const std::string phrase = phrase_of(text); !phrase.empty())
      asked.none_of += " NOT " + std::string(kFields) + phrase;
  const bool has_text = !query.words.empty() || !query.phrases.empty();
  if (has_text && asked.words.empty()) impossible = true;
  return asked;
}

// For queries with only filters: the newest of each kind.
Result<std::vector<RankedRecord>> newest(store::Db& db, const Search& search, const Asked& asked,
                                         std::size_t count) {
  std::vector<store::Entry> found;
  for (const Kind kind :
       {Kind::observation, Kind::summary, Kind::prompt, Kind::text, Kind::open, Kind::document}) {
    if (!search.query.kind.empty() && search.query.kind != name_of(kind)) continue;
    Asked of_kind = asked;
    of_kind.is_everything = false;
    of_kind.must.push_back("scope : " + in_quotes("k" + std::string(name_of(kind))));
    const auto some = TRY(store::newest_entries(db, of_kind.match(""), asked.period, count));
    found.insert(found.end(), some.begin(), some.end());
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  found.resize(std::min(found.size(), count));
  std::vector<RankedRecord> ranked;
  for (const store::Entry& entry : found) {
    const auto text = TRY(store::ranked_text(db, entry.id));
    // The index has only the beginning of a very long project name, so compare the whole one.
    if (!text || !asked.is_in_scope(text->project)) continue;
    RankedRecord& each = ranked.emplace_back();
    each.id = entry.id;
    each.turn = turn_of(*text);
  }
  return ranked;
}

// A ranked record and the others of its turn.
struct Group {
  RankedRecord best;
  Record record;
  std::vector<RecordId> also;
  std::string matched;  // the best matching text, when another record is shown for the turn
  std::optional<store::Passage> passage;
  bool is_stale = false;
};

// Groups records by turn.
class Groups {
 public:
  explicit Groups(bool by_turn) : by_turn_(by_turn) {}

  // The group of the turn; null: it has none yet.
  Group* find(const RankedRecord& ranked) {
    const auto known = by_turn_ && ranked.turn ? turns_.find(*ranked.turn) : turns_.end();
    return known == turns_.end() ? nullptr : &all_[known->second];
  }
  void add(RankedRecord ranked, Record record) {
    if (ranked.turn) turns_.try_emplace(*ranked.turn, all_.size());
    all_.push_back({std::move(ranked), std::move(record), {}, {}, {}, false});
  }
  std::size_t size() const { return all_.size(); }
  std::vector<Group> take() { return std::move(all_); }

 private:
  bool by_turn_;
  std::vector<Group> all_;
  std::map<Turn, std::size_t> turns_;
};

// Whether the record's session is one of the coding agent that is asked for.
Result<bool> is_of_host(store::Db& db, const Record& record, const std::string& host) {
  if (host.empty()) return true;
  const auto platform = TRY(store::platform_of(db, record.session));
  return platform && ascii_lower(*platform).starts_with(host);
}

Result<std::vector<Group>> groups_of(store::Db& db, const store::IndexTerms& index, const Search& search,
                                     const Asked& asked, std::size_t wanted) {
  // With a host many ranked records may be dropped below, so rank more of them.
  const std::size_t rows = ranked_for(search.query.host.empty() ? wanted : std::max<std::size_t>(wanted, 41));
  auto ranked = asked.words.empty() ? TRY(newest(db, search, asked, rows))
                                    : TRY(rank(db, index, asked, rows, search.explain));
  // Loading a record costs as much as ranking it: only as many turns as are looked at.
  const std::size_t most = std::max(wanted, kLookedAt) + 1;
  Groups groups(search.by_turn);
  for (RankedRecord& each : ranked) {
    Group* const group = groups.find(each);
    if (!group && groups.size() >= most) continue;
    // A summary says more than a prompt: it has the result.
    const bool replaces = group && group->record.id.kind == Kind::prompt;
    if (group) {
      group->best.covered = std::max(group->best.covered, each.covered);
      group->also.push_back(replaces ? group->record.id : each.id);
      if (!replaces) continue;
    }
    auto record = TRY(load_record(db, each.id));
    if (!record) continue;
    if (replaces)
      group->record = *std::move(record);
    else if (TRY(is_of_host(db, *record, search.query.host)))
      groups.add(std::move(each), *std::move(record));
  }
  return groups.take();
}

// For a summary `cairn show` prints the whole turn, for a text only that text: so show the summary.
Status stand_for_turn(store::Db& db, Group& group) {
  const auto is_text = [](const RecordId& id) { return id.kind == Kind::text; };
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
Marked passage_shown(const store::IndexTerms& index, const Record& record, const Marked& title,
                     const std::set<std::string>& stems) {
  Marked piece = excerpt(index, record.body, stems, kExcerpt);
  // The title of a prompt or a text is its beginning: do not show the same text twice.
  const bool is_text = any_of_kinds(record.id.kind, {Kind::prompt, Kind::text, Kind::passage, Kind::event});
  if (is_text && !piece.text.starts_with("…")) return {};
  if (piece.text.empty() && title.marks.empty()) piece = excerpt(index, record.names, stems, kExcerpt);
  return piece;
}

// An observation about a file that changed since comes after an equally good one whose files are unchanged.
// Looks only at the first ones.
Status rank_stale_down(store::Db& db, const Search& search, std::vector<Group>& groups) {
  constexpr double kStale = 0.85;
  if (!search.disk) return {};
  Freshness freshness(db, *search.disk);
  bool changed = false;
  for (std::size_t i = 0; i < std::min(groups.size(), kLookedAt); ++i) {
    Group& group = groups[i];
    if (group.record.id.kind != Kind::observation || !TRY(freshness.is_stale(group.record.id.row))) continue;
    group.is_stale = changed = true;
    if (search.explain) group.best.shares.push_back({"file changed since", (kStale - 1) * group.best.score});
    group.best.score *= kStale;
  }
  if (changed)
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.best.score > b.best.score; });
  return {};
}

// Adds passages of transcripts and tool calls where their scores place them.
Status add_long_texts(store::Db& db, const Search& search, const Asked& asked, std::vector<Group>& groups) {
  const Query& q = search.query;
  // Long texts have no kind, type, file or concept of their own in their index.
  const bool wanted = (q.kind.empty() || q.kind == name_of(Kind::text)) && q.type.empty() && q.file.empty() &&
                      q.concept_name.empty() && !asked.words.empty();
  if (!wanted) return {};
  std::map<std::pair<std::string, std::int64_t>, double> complete;  // turns with a record that has all words
  for (const Group& group : groups)
    if (group.best.covered > 0.98 && group.record.prompt_number)
      complete.emplace(std::pair(group.record.session, *group.record.prompt_number), group.best.score);
  for (LongText& found : TRY(find_long_texts(db, search.disk != nullptr, asked, q))) {
    if (found.match.prompt_number) {
      const auto better = complete.find({found.match.session, *found.match.prompt_number});
      if (better != complete.end() && better->second >= found.score) continue;
    }
    Group group;
    group.best = {found.match.id, {}, found.score, found.covered, std::move(found.shares)};
    group.record.id = found.match.id;
    group.record.session = found.match.session;
    const auto at = std::find_if(groups.begin(), groups.end(),
                                 [&](const Group& other) { return other.best.score < found.score; });
    groups.insert(at, std::move(group));
  }
  return {};
}

// Identifiers that neither a record nor a long text has.
Result<std::vector<std::string>> absent_identifiers(store::Db& db, const Search& search, const Asked& asked) {
  std::vector<std::string> absent;
  store::TermReader reader(search.query.words, store::TermsOf::query);
  store::Term term;
  for (std::size_t count = 0; count < kMostTerms && reader.next(term);) {
    if (!term.whole) continue;
    ++count;
    const auto word = std::find_if(asked.words.begin(), asked.words.end(), [&](const QueryWord& each) {
      return each.whole && each.text == term.text;
    });
    // Its frequency was estimated by weigh(): zero is exact.
    if (word == asked.words.end() || word->frequency > 0) continue;
    if (TRY(is_in_long_texts(db, search.disk != nullptr, asked, *word))) continue;
    std::string name = search.query.words.substr(term.start, term.end - term.start);
    if (std::find(absent.begin(), absent.end(), name) == absent.end()) absent.push_back(std::move(name));
  }
  return absent;
}

Result<std::optional<RecordId>> successor_of(store::Db& db, const RecordId& id) {
  if (id.kind != Kind::document) return std::optional<RecordId>();
  const auto next = TRY(store::successor_of_document(db, id.row));
  return next ? std::optional(RecordId{Kind::document, *next}) : std::nullopt;
}

Result<Hit> shown_hit(store::Db& db, const store::IndexTerms& index, const Search& search, Group& group,
                      const std::set<std::string>& stems) {
  Hit hit;
  if (search.by_turn && search.query.kind.empty()) TRY(stand_for_turn(db, group));
  hit.score = group.best.score;
  hit.is_stale = group.is_stale;
  hit.covered = group.best.covered;
  hit.record = std::move(group.record);
  hit.also = std::move(group.also);
  hit.shares = std::move(group.best.shares);
  std::stable_sort(hit.shares.begin(), hit.shares.end(),
                   [](const Share& a, const Share& b) { return a.score > b.score; });
  if (any_of_kinds(hit.record.id.kind, {Kind::passage, Kind::event}))
    hit.passage = TRY(load_long_text(db, search.disk, search.archive, hit.record));
  hit.title = mark(index, hit.record.title, stems);
  hit.excerpt = group.matched.empty() ? passage_shown(index, hit.record, hit.title, stems)
                                      : excerpt(index, group.matched, stems, kExcerpt);
  hit.successor = TRY(successor_of(db, hit.record.id));
  return hit;
}

}  // namespace

Result<Found> search(store::Db& db, const Search& search) {
  const store::IndexTerms index = TRY(store::IndexTerms::open(db));
  // All reads of one search see the same state, while the writer goes on.
  const store::Snapshot snapshot = TRY(store::Snapshot::begin(db));
  bool impossible = false;
  Asked asked = asked_of(
      index, search, search.project ? TRY(store::scope_of(db, *search.project)) : std::vector<std::string>(),
      impossible);
  Found out;
  if (impossible) return out;
  TRY(weigh(db, asked));
  // One more than is shown tells whether there are more.
  const std::size_t wanted = search.offset + search.limit + 1;
  std::vector<Group> groups = TRY(groups_of(db, index, search, asked, wanted));
  TRY(rank_stale_down(db, search, groups));
  TRY(add_long_texts(db, search, asked, groups));
  out.more = groups.size() >= wanted;
  const std::set<std::string> stems = stems_of(asked.words);
  for (std::size_t i = search.offset; i < std::min(groups.size(), wanted - 1); ++i)
    out.hits.push_back(TRY(shown_hit(db, index, search, groups[i], stems)));
  out.absent = TRY(absent_identifiers(db, search, asked));
  return out;
}

}  // namespace cairn::recall
