#include "recall/fix.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "distil/distil.h"
#include "event/origin.h"
#include "recall/match.h"
#include "store/observations.h"
#include "store/projects.h"

namespace cairn::recall {

// 1. said_in() reduces the error text to the words that stay the same from run to run.
// 2. The index gives observations with any of these words.
// 3. read_fix() keeps those that the distiller wrote as failure, changes and pass.
// 4. likeness() compares the words of the two failures.

namespace {

constexpr std::size_t kReadError = 16'000;   // bytes of an error text that are read
constexpr std::size_t kMostWords = 24;       // of an error that are looked for
constexpr std::size_t kRecordsRead = 60;     // records
constexpr double kLike = 0.45, kSure = 0.8;  // likeness
constexpr std::size_t kWordsOfSure = 4;      // fewer words can agree by chance

using Words = std::set<std::string>;

// A word that differs from run to run: a number, an address, a duration, a hash.
bool is_volatile(std::string_view word) {
  const auto digits = std::count_if(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits == 0) return false;
  // A letter first, then letters and digits: the form of an error code.
  const bool code = word.size() <= 8 && word.front() >= 'a' && word.front() <= 'z' &&
                    digits < static_cast<std::ptrdiff_t>(word.size()) &&
                    word.find_first_not_of("0123456789") == 0;
  const bool is_hex = word.find_first_not_of("0123456789abcdefx") == std::string_view::npos;
  return !code || is_hex;  // a code such as ts2322 says what went wrong
}

// The words of an error that stay the same when it happens again.
Words words_of(const store::IndexTerms& index, std::string_view text) {
  Words words;
  for (const store::Term& term : index.of(text, store::TermsOf::query)) {
    if (term.text.size() < 2 || is_stop_word(term.text) || is_volatile(term.text)) continue;
    if (!term.whole) words.insert(term.text);
  }
  return words;
}

// What an error text says happened: the line that names it, and the tests that failed.
struct Said {
  Words line, tests, all;
};

Said said_in(const store::IndexTerms& index, std::string_view error) {
  const std::string text = visible(prefix(error, kReadError));
  const distil::CommandRun run = distil::failed_run(text, {});
  Said said;
  said.line = words_of(index, run.why);
  for (const std::string& test : run.failed) said.tests.merge(words_of(index, test));
  said.all = words_of(index, prefix(text, 2000));
  return said;
}

std::size_t shared(const Words& a, const Words& b) {
  return static_cast<std::size_t>(
      std::count_if(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); }));
}

// How far two sets of words agree, from 0 to 1.
double agreement(const Words& a, const Words& b) {
  if (a.empty() || b.empty()) return 0;
  return static_cast<double>(shared(a, b)) / static_cast<double>(std::max(a.size(), b.size()));
}

// The words that every failure has say nothing about this one.
Words of_failure(const store::IndexTerms& index, std::string_view fact) {
  Words words = words_of(index, fact);
  for (const char* common : {"fail", "exit", "code", "output", "error", "pass"}) words.erase(common);
  return words;
}

double likeness(const store::IndexTerms& index, const Said& said, const Fix& fix) {
  const Words failure = of_failure(index, fix.failure);
  Words line = said.line;
  for (const char* common : {"fail", "exit", "code", "output", "error", "pass"}) line.erase(common);
  // The fact also names the command and the tests, so only the line's own words must be in it.
  const double in_fact =
      line.empty() ? 0 : static_cast<double>(shared(line, failure)) / static_cast<double>(line.size());
  Words known = line;
  known.insert(said.tests.begin(), said.tests.end());
  known.insert(said.all.begin(), said.all.end());
  const double in_error =
      failure.empty() ? 0 : static_cast<double>(shared(failure, known)) / static_cast<double>(failure.size());
  const double tests = said.tests.empty() ? 0 : agreement(said.tests, failure);
  // Tests with the same names are enough. Otherwise the line that names the error decides, if it has two
  // words: one agrees by chance.
  return std::max(tests, line.size() < 2 ? 0 : in_fact * (0.6 + 0.4 * in_error));
}

// A fix as the distiller wrote it: failures first, then changes, then passes.
std::optional<Fix> read_fix(const store::Observation& o) {
  Fix fix;
  for (const std::string& fact : o.facts) {
    if (fact.find(" failed") != std::string::npos && fix.changes.empty() && fix.pass.empty())
      fix.failure += (fix.failure.empty() ? "" : " ") + fact;
    else if (fact.find(" passed") != std::string::npos)
      fix.pass = fact;
    else if (!fix.failure.empty() && fix.pass.empty())
      fix.changes.push_back(fact);
  }
  if (fix.failure.empty() || fix.pass.empty()) return std::nullopt;
  fix.record = {Kind::observation, o.id};
  fix.project = o.project;
  fix.title = o.title;
  fix.why = o.narrative;
  fix.at = o.created_at;
  return fix;
}

std::string match_for(const std::vector<std::string>& projects, const Said& said) {
  std::string scope, any;
  for (const std::string& project : projects)
    scope += (scope.empty() ? "" : " OR ") + in_quotes("p" + to_hex(project));
  std::size_t count = 0;
  // The most telling words first: only kMostWords of them are looked for.
  for (const Words* words : {&said.tests, &said.line, &said.all})
    for (const std::string& word : *words)
      if (count < kMostWords) any += (count++ == 0 ? "" : " OR ") + in_quotes(word);
  if (any.empty()) return {};
  return (scope.empty() ? "" : "scope : (" + scope + ") AND ") +
         std::string("scope : kobservation AND {title body} : (") + any + ") AND {title body} : \"fail\"";
}

}  // namespace

std::string Fix::text(std::size_t max) const {
  std::string out = failure;
  for (const std::string& change : changes) out += "\n" + change;
  if (!pass.empty()) out += "\n" + pass;
  if (!why.empty() && out.size() + why.size() + 1 <= max) out += "\n" + why;
  return closed(cut(out, max));
}

Result<std::vector<Fix>> find_fixes(store::Db& db, const std::vector<std::string>& projects,
                                    std::string_view error, std::size_t limit) {
  const store::IndexTerms index = TRY(store::IndexTerms::open(db));
  const Said said = said_in(index, error);
  const std::string match = match_for(projects, said);
  std::vector<Fix> found;
  if (match.empty()) return found;
  for (const store::Entry& entry : TRY(store::best_entries(db, match, {}, kRecordsRead))) {
    const auto observation = TRY(store::find_observation(db, entry.id.row));
    auto fix = observation ? read_fix(*observation) : std::nullopt;
    // The index has only the beginning of a very long project name.
    if (!fix || (!projects.empty() && std::count(projects.begin(), projects.end(), fix->project) == 0))
      continue;
    fix->likeness = likeness(index, said, *fix);
    if (fix->likeness >= kLike) found.push_back(*std::move(fix));
  }
  std::stable_sort(found.begin(), found.end(), [](const Fix& a, const Fix& b) {
    // In steps of 0.05: among errors that are about equally alike the newest fix comes first.
    const int x = static_cast<int>(a.likeness * 20), y = static_cast<int>(b.likeness * 20);
    return x != y ? x > y : a.at > b.at;
  });
  if (found.size() > limit) found.resize(limit);
  return found;
}

Result<std::optional<Fix>> sure_fix(store::Db& db, const std::string& project, std::string_view error) {
  auto found = TRY(find_fixes(db, TRY(store::scope_of(db, project)), error, 10));
  const store::IndexTerms index = TRY(store::IndexTerms::open(db));
  const Said said = said_in(index, error);
  Words own = said.line;
  own.insert(said.tests.begin(), said.tests.end());
  std::erase_if(found, [&](const Fix& fix) {
    return fix.likeness < kSure || fix.changes.empty() ||
           shared(own, of_failure(index, fix.failure)) < kWordsOfSure;
  });
  if (found.empty()) return std::optional<Fix>();
  const auto newest =
      std::max_element(found.begin(), found.end(), [](const Fix& a, const Fix& b) { return a.at < b.at; });
  // Another fix of the same error that changed other files: then none of them is sure.
  // "Edited src/x.cpp (+3 -1): read_word." gives "Edited src/x.cpp".
  const auto file = [](const Fix& fix) {
    return fix.changes.front().substr(0, fix.changes.front().find(" ("));
  };
  for (const Fix& fix : found)
    if (file(fix) != file(*newest)) return std::optional<Fix>();
  return std::optional(*newest);
}

}  // namespace cairn::recall
