#include "context/composer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "context/entries.h"
#include "context/page.h"
#include "git/changes.h"

namespace cairn::context {

// Whatever was stored is made data before it is put among our own lines. Names quote nothing.
static std::string line_of_data(std::string_view text) {
  return one_line(labelled(as_data(text)), 500);
}

namespace {

using store::Observation;
using store::Summary;
using Turn = std::pair<std::string, std::int64_t>;  // content id of its session, prompt number

constexpr std::size_t kFull = 2;     // turns in full
constexpr std::size_t kWorthy = 24;  // observations of earlier turns
constexpr std::string_view kLastLine =
    "Asked about earlier work, or about to redo some? `cairn search WORDS` finds it; `cairn show ID` "
    "prints it in "
    "full; (~N) are its tokens.\n";

// What a line of it is worth to somebody who goes on: why and what to beware of before what was done.
int worth(const Observation& o) {
  if (o.type == "decision" || o.type == "security") return 5;
  if (o.type == "bugfix" || o.type == "discovery") return 4;
  if (o.type == "feature") return 3;
  return o.type == "refactor" ? 2 : 1;
}

class Composer {
 public:
  Composer(const Request& request, const std::vector<Summary>& summaries,
           const std::vector<Observation>& observations, std::vector<std::string> uncommitted,
           const Standing& standing)
      : request_(request),
        summaries_(summaries),
        observations_(observations),
        uncommitted_(std::move(uncommitted)),
        standing_(standing),
        page_(request.budget_tokens, kMaxCharacters, kLastLine) {
    for (auto o = observations.rbegin(); o != observations.rend(); ++o)
      if (o->prompt_number) of_turn_[{o->session, *o->prompt_number}].push_back(&*o);
  }

  Composed run() {
    page_.add(fmt::format("Project {}.{}\n\n", one_line(visible(request_.project), 200),
                          request_.since ? " New since this session was last given notes:" : ""));
    add_section(notes_section(standing_, page_.budget() * 4 / 10));
    if (!summaries_.empty()) {
      out_.last_request = one_line(visible(summaries_.front().request), 80);
      out_.last_at = summaries_.front().created_at;
      add_state();
    }
    add_open();
    if (request_.layout != Layout::observations) add_full();
    add_earlier();
    if (out_.items.empty()) return out_;  // the budget is too small for anything
    if (earlier_) page_.add("\n");
    out_.text = page_.fenced(request_.key);
    out_.tokens = estimate_tokens(out_.text);
    out_.characters = utf16_length(out_.text);
    return out_;
  }

 private:
  // What is so now: a session that was broken off, others at work, files that are not committed.
  void add_state() {
    std::string text;
    const Summary& newest = summaries_.front();
    if (const std::string_view cause = broken_by(newest); !cause.empty()) {
      out_.interrupted = true;
      text += fmt::format(
          "The last session was interrupted ({}): {} of {} did not reach its end. What it did until "
          "then is below.\n",
          cause, id_of(newest), date(newest.created_at));
    }
    std::vector<std::string> others;  // what the sessions edited since the last commit is open
    for (const std::string& file : uncommitted_)
      if (!standing_.edits(file)) others.push_back(line_of_data(file));
    if (!others.empty()) text += fmt::format("Changed and not committed now: {}.\n", joined(others, 12));
    std::set<std::string> told;
    for (const Summary& s : summaries_) {
      if (!s.interim || s.session == request_.own_session || !told.insert(s.session).second) continue;
      text += fmt::format("Another session is at work here now: {}{}{}.\n", id_of(s),
                          s.branch ? " on branch " + *s.branch : "", s.worktree ? " in " + *s.worktree : "");
    }
    if (!text.empty()) page_.add(text + "\n");
  }

  bool add_section(const Section& section) {
    if (section.text.empty() || !page_.add(section.text)) return false;
    out_.items.insert(out_.items.end(), section.ids.begin(), section.ids.end());
    return true;
  }

  void add_open() {
    out_.open = standing_.open.size();
    const Section section = open_section(standing_, uncommitted_, page_.budget() / 4);
    if (add_section(section)) told_.insert(section.texts.begin(), section.texts.end());
  }

  // The newest turns; what is told there is not told again by their observations.
  void add_full() {
    page_.add("# Recent work, newest first\n");
    const bool alone = request_.layout == Layout::summaries;
    for (const Summary& s : summaries_) {
      if (!alone && shown_.size() >= kFull) break;
      const auto& details = of_turn_[{s.session, s.prompt_number}];
      if (!page_.add(full_entry(s, details, told_), alone ? 0 : page_.budget() * 7 / 10)) break;
      out_.items.push_back(id_of(s));
      shown_.insert({s.session, s.prompt_number});
    }
  }

  // The observations that are worth most among the newest; equal ones once.
  std::set<const Observation*> worthy() const {
    std::vector<std::pair<int, const Observation*>> ranked;
    std::set<std::string> titles;
    int age = 0;
    for (const Observation& o : observations_) {
      if (o.prompt_number && shown_.contains({o.session, *o.prompt_number})) continue;
      if (!titles.insert(o.title).second) continue;
      ranked.emplace_back(10 * worth(o) - age++, &o);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (ranked.size() > kWorthy) ranked.resize(kWorthy);
    std::set<const Observation*> out;
    for (const auto& [score, o] : ranked) out.insert(o);
    return out;
  }

  bool add_line(std::string line, std::string id) {
    if (!earlier_)
      line = (request_.layout == Layout::observations ? "# Observations\n" : "# Earlier\n") + line;
    if (!page_.add(line)) return false;
    earlier_ = true;
    out_.items.push_back(std::move(id));
    return true;
  }

  // A line for each earlier turn, and below it what of it is worth a line; then those of no turn.
  void add_earlier() {
    const bool with_observations = request_.layout != Layout::summaries;
    const std::set<const Observation*> chosen = with_observations ? worthy() : std::set<const Observation*>();
    if (request_.layout != Layout::observations)
      for (const Summary& s : summaries_) {
        const Turn turn{s.session, s.prompt_number};
        if (!shown_.insert(turn).second) continue;
        if (!add_line(line_entry(s), id_of(s))) return;
        for (const Observation* o : of_turn_[turn])
          if (chosen.contains(o)) add_line("  " + line_entry(*o, false), id_of(*o));
      }
    for (const Observation& o : observations_) {
      const bool below_its_turn = o.prompt_number && shown_.contains({o.session, *o.prompt_number});
      if (!below_its_turn && chosen.contains(&o) && !add_line(line_entry(o, true), id_of(o))) return;
    }
    for (const auto& [id, line] : earlier_open(standing_)) add_line(line, id);
  }

  const Request& request_;
  const std::vector<Summary>& summaries_;
  const std::vector<Observation>& observations_;
  std::vector<std::string> uncommitted_;
  const Standing& standing_;
  std::map<Turn, std::vector<const Observation*>> of_turn_;
  std::set<std::string> told_;  // open steps
  std::set<Turn> shown_;
  bool earlier_ = false;
  Page page_;
  Composed out_;
};

// Of the files that earlier turns changed, and of those that git knows.
Result<std::vector<std::string>> uncommitted_files(store::Db& db, const Request& request,
                                                   const std::vector<Summary>& summaries) {
  std::string tree = request.working_tree;
  if (tree.empty())
    tree = TRY(db.text("SELECT root FROM projects WHERE name = ?", request.project)).value_or("");
  std::set<std::string> known;
  for (const Summary& s : summaries)
    if (known.size() < 200) known.insert(s.files_edited.begin(), s.files_edited.end());
  if (request.disk == nullptr) return std::vector<std::string>();
  return git::changed_files(*request.disk, tree, {known.begin(), known.end()});
}

}  // namespace

static void make_data(Summary& s) {
  for (std::string* text : {&s.request, &s.completed, &s.learned, &s.investigated, &s.notes, &s.next_steps})
    *text = as_data(*text);
  if (s.branch) s.branch = line_of_data(as_name(*s.branch));
  if (s.worktree) s.worktree = line_of_data(*s.worktree);
  for (std::string& file : s.files_edited) file = line_of_data(file);
}

static void make_data(Observation& o) {
  for (std::string* text : {&o.title, &o.subtitle, &o.narrative}) *text = as_data(*text);
  o.type = line_of_data(o.type);
  for (std::string& fact : o.facts) fact = as_data(fact);
}

Composed render(const Request& request, std::vector<Summary> summaries, std::vector<Observation> observations,
                std::vector<std::string> uncommitted, const Standing& standing) {
  for (Summary& s : summaries) make_data(s);
  for (Observation& o : observations) make_data(o);
  return Composer(request, summaries, observations, std::move(uncommitted), standing).run();
}

Result<Composed> compose(store::Db& db, const Request& request) {
  constexpr std::size_t kSummaries = 30, kObservations = 90;  // more than a budget of thousands can show
  auto summaries =
      TRY(store::newest_summaries(db, {request.project, request.since, request.except_session, kSummaries}));
  auto observations = TRY(store::newest_observations(
      db, {request.project, request.since, request.except_session, kObservations}));
  const Standing standing =
      TRY(read_standing(db, request.project, request.since, request.own_session, request.working_tree));
  if (summaries.empty() && observations.empty() && standing.open.empty() && standing.notes.empty())
    return Composed{};
  auto uncommitted = TRY(uncommitted_files(db, request, summaries));
  return render(request, std::move(summaries), std::move(observations), std::move(uncommitted), standing);
}

}  // namespace cairn::context
