// Makes the observations of a turn: fixes, changes, remaining failures, commands that finally worked,
// decisions, findings.
#include <algorithm>
#include <map>

#include "base/quoted.h"
#include "base/text.h"
#include "distil/parts.h"
#include "distil/sentences.h"
#include "distil/words.h"
#include "distil/worth.h"
#include "event/origin.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxFacts = 14;
// Each is compared with every edit of every file (assign_files).
constexpr std::size_t kMaxFixes = 64;
constexpr std::size_t kMaxFixesShown = 2;
constexpr std::size_t kMaxFilesListed = 8;
constexpr std::size_t kLeastAnswer = 80;  // bytes of an answer that counts as a result; "Done." does not
constexpr std::size_t kMaxEvents = 200;

using How = CommandRun::How;

std::string full_stop(std::string text) {
  return text +
         (text.empty() || std::string_view(".!?").find(text.back()) != std::string_view::npos ? "" : ".");
}

// How a failed run is described: its failed tests, else its error.
std::string cause(const CommandRun& run, std::size_t max) {
  if (run.failed.empty() && run.why.empty()) return one_line(run.code, max);
  return quote(Origin::output,
               one_line(run.failed.empty() ? run.why : join(run.failed, 2, "test", "tests"), max));
}

std::string failure_text(const Command& command, const CommandRun& run) {
  std::string text = quoted(command.shown) + " failed";
  if (const std::string more = detail(run); !more.empty()) text += " (" + more + ")";
  const bool named = run.failed.size() == 1 && run.why.find(run.failed[0]) != std::string::npos;
  if (!run.failed.empty() && !named)
    text += "; failing: " + quote(Origin::output, join(run.failed, 5, "test", "tests"));
  return full_stop(std::move(text));
}

std::string pass_text(const Command& command, const CommandRun& run) {
  return quoted(command.shown) + " passed" +
         (run.passed.empty() ? "." : " (" + quote(Origin::output, run.passed) + ").");
}

// "Edited a.cpp (+3 -1): read_word and next."
std::string described_with_symbols(const FileChange& file) {
  std::string text = described(file);
  if (file.symbols.empty()) return text;
  text.pop_back();
  return text + ": " + join(file.symbols, 5, "name", "names") + ".";
}

// A command that failed and finally passed.
struct Fix {
  const Command* command;
  const CommandRun* failure;  // the first
  const CommandRun* pass;     // the one after the last failure
};

std::vector<Fix> fixes_of(const Digest& digest) {
  std::vector<Fix> out;
  for (const Command& command : digest.commands) {
    if (command.looks || command.runs.size() < 2 || command.runs.back().how != How::passed) continue;
    const auto is_failure = [](const CommandRun& run) { return run.how == How::failed; };
    const auto first = std::find_if(command.runs.begin(), command.runs.end(), is_failure);
    if (first == command.runs.end()) continue;
    const auto last = std::find_if(command.runs.rbegin(), command.runs.rend(), is_failure).base();
    const auto pass =
        std::find_if(last, command.runs.end(), [](const CommandRun& run) { return run.how == How::passed; });
    out.push_back({&command, &*first, &*pass});  // the last run passed
  }
  // Checks come first: the title and the facts show only the first fixes.
  std::stable_partition(out.begin(), out.end(), [](const Fix& fix) { return fix.command->check; });
  if (out.size() > kMaxFixes) out.resize(kMaxFixes);
  return out;
}

// The type from a prefix such as "feat(ui): ..."; empty when there is none.
std::string_view type_of_prefix(std::string_view subject) {
  const std::size_t end = subject.find_first_of("(:! ");
  if (end == std::string_view::npos || subject.find(':') == std::string_view::npos || subject[end] == ' ')
    return {};
  const std::string_view word = subject.substr(0, end);
  if (word == "feat") return "feature";
  if (word == "fix") return "bugfix";
  if (word == "refactor" || word == "perf") return "refactor";
  return any_of(word, {"docs", "chore", "test", "tests", "build", "ci", "style"}) ? "change" : "";
}

// Each slot has its add_ function, which adds one observation or none. They run in the order of the slots,
// and each of them leaves out what an earlier one reports: add_changed() has the files that belong to no fix,
// and add_found() has no findings when a fix explains itself with them.
class Observer {
 public:
  Observer(const Turn& turn, const Digest& digest, const std::string& answer, const Mode& mode)
      : turn_(turn), digest_(digest), mode_(mode), fixes_(fixes_of(digest)) {
    // The "answer" of a failed turn is the service's error message: it states nothing about the work.
    if (turn.end != Turn::End::failed) {
      answer_ = answer;
      statements_ = statements(answer, mode);
    }
    request_ = one_line(turn.prompt.empty() ? "" : request_of(turn.prompt), 200);
    assign_files();
  }

  std::vector<Observation> run() {
    add_fixed();
    add_changed();
    // While the turn runs, a failing command is probably being fixed.
    if (turn_.end != Turn::End::open) add_failing();
    add_worked();
    add_decided();
    add_found();
    return std::move(out_);
  }

 private:
  // Files that changed between a failure and the pass belong to the fix.
  void assign_files() {
    std::vector<std::pair<std::size_t, std::size_t>> spans;
    for (const Fix& fix : fixes_) spans.emplace_back(fix.failure->mark.at, fix.pass->mark.at);
    for (const FileChange& file : digest_.files) {
      const bool between = std::any_of(file.marks.begin(), file.marks.end(), [&](const Mark& mark) {
        return std::any_of(spans.begin(), spans.end(),
                           [&](const auto& span) { return mark.at > span.first && mark.at < span.second; });
      });
      (between ? fix_files_ : others_).push_back(&file);
    }
    // A command that is no check and passed without any change was not fixed.
    std::erase_if(fixes_, [&](const Fix& fix) { return !fix.command->check && fix_files_.empty(); });
  }

  Observation& add(Observation::Slot slot, std::string type, std::string title) {
    Observation& o = out_.emplace_back();
    o.slot = slot;
    o.type = std::move(type);
    o.title = std::move(title);
    o.subtitle = request_;
    return o;
  }

  static void add_fact(Observation& o, std::string fact) {
    if (!fact.empty() && o.facts.size() < kMaxFacts) o.facts.push_back(std::move(fact));
  }

  static void add_event(Observation& o, std::int64_t event) {
    if (event != 0) o.events.push_back(event);
  }

  // Adds the answer and, because it may repeat them, all sources outside the project.
  void add_answer(Observation& o) const {
    add_event(o, turn_.answer_event);
    for (const Mark& mark : digest_.outside) add_event(o, mark.event);
  }

  static void add_files(Observation& o, const std::vector<const FileChange*>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (i < kMaxFilesListed) add_fact(o, described_with_symbols(*files[i]));
      o.files_modified.push_back(files[i]->path);
      for (const Mark& mark : files[i]->marks) add_event(o, mark.event);
    }
    if (files.size() > kMaxFilesListed)
      add_fact(o, "And " + number(static_cast<std::int64_t>(files.size() - kMaxFilesListed), "more file.",
                                  "more files."));
  }

  void add_commits(Observation& o) const {
    std::vector<std::string> texts;
    for (const Commit* commit : commits()) {
      texts.push_back(commit->text);
      add_event(o, commit->mark.event);
    }
    if (!texts.empty()) add_fact(o, "Committed " + join(texts, 6, "commit", "commits") + ".");
  }

  void add_concept(Observation& o, std::string_view name) const {
    const auto known = std::find_if(mode_.concepts.begin(), mode_.concepts.end(),
                                    [&](const auto& n) { return n.name == name; });
    if (known == mode_.concepts.end()) return;
    if (std::find(o.concepts.begin(), o.concepts.end(), name) == o.concepts.end())
      o.concepts.emplace_back(name);
  }

  // Concepts whose cues occur in the text.
  void add_concepts_of(Observation& o, std::string_view text) const {
    const std::string folded = fold(text);
    for (const Mode::Named& named : mode_.concepts)
      if (o.concepts.size() < 3 && has_cue(folded, named.cues)) add_concept(o, named.name);
  }

  // Sorts, removes duplicates and cuts to limits.
  static void finish(Observation& o) {
    for (auto* files : {&o.files_read, &o.files_modified}) {
      std::sort(files->begin(), files->end());
      files->erase(std::unique(files->begin(), files->end()), files->end());
    }
    std::sort(o.events.begin(), o.events.end());
    o.events.erase(std::unique(o.events.begin(), o.events.end()), o.events.end());
    if (o.events.size() > kMaxEvents) o.events.erase(o.events.begin(), o.events.end() - kMaxEvents);
  }

  // `wanted` if the mode has that type, else "change".
  std::string type_named(std::string_view wanted) const {
    const auto is_wanted = [&](const Mode::Named& named) { return named.name == wanted; };
    return std::any_of(mode_.types.begin(), mode_.types.end(), is_wanted) ? std::string(wanted) : "change";
  }

  // Findings as sentences; decisions have their own observation.
  std::string findings() const {
    std::string text;
    for (const Statement& statement : statements_)
      if (!statement.decision) text.append(text.empty() ? "" : " ").append(statement.text);
    return shorten(text, kMaxNarrative);
  }

  // Failed, then passed: both results, what changed in between, and why.
  void add_fixed() {
    if (fixes_.empty()) return;
    const Fix& first = fixes_.front();
    const std::vector<const Commit*> made = commits();
    const std::string why = cause(*first.failure, 70);
    std::string title =
        quoted(first.command->shown) + " failed" + (why.empty() ? "" : " (" + why + ")") + ", now passes";
    if (!fix_files_.empty())
      title += " after a change of " + fix_files_.front()->path;
    else if (!made.empty())
      title += " after " + quoted(made.back()->subject, '"');
    Observation& o = add(Observation::Slot::fixed, type_named("bugfix"), std::move(title));
    const std::size_t shown = std::min(fixes_.size(), kMaxFixesShown);
    for (std::size_t i = 0; i < shown; ++i) add_fact(o, failure_text(*fixes_[i].command, *fixes_[i].failure));
    add_files(o, fix_files_);
    for (std::size_t i = 0; i < shown; ++i) add_fact(o, pass_text(*fixes_[i].command, *fixes_[i].pass));
    if (fixes_.size() > shown)
      add_fact(o, number(static_cast<std::int64_t>(fixes_.size() - shown), "more command", "more commands") +
                      " failed and passed in the end.");
    for (const Fix& fix : fixes_)
      for (const CommandRun& run : fix.command->runs) add_event(o, run.mark.event);
    // Otherwise the observation of the change has them.
    if (others_.empty()) add_commits(o);
    o.narrative = findings();
    if (!o.narrative.empty()) add_answer(o);
    add_concept(o, "problem-solution");
    add_concepts_of(o, o.narrative);
    finish(o);
  }

  // Files that commands changed and no edit covers.
  std::vector<std::string> changed_by_shell() const {
    std::set<std::string> named;
    for (const FileChange& file : digest_.files) named.insert(file.path);
    std::vector<std::string> out;
    std::set_difference(digest_.edited.begin(), digest_.edited.end(), named.begin(), named.end(),
                        std::back_inserter(out));
    return out;
  }

  std::vector<const Commit*> commits() const {
    std::vector<const Commit*> out;
    for (const Command& command : digest_.commands)
      for (const Commit& commit : command.commits) out.push_back(&commit);
    return out;
  }

  void add_changed() {
    const std::vector<const Commit*> made = commits();
    const std::vector<std::string> by_shell = changed_by_shell();
    const bool reported_already = !fixes_.empty() && others_.empty();
    if (reported_already || (others_.empty() && made.empty() && by_shell.empty())) return;
    Observation& o = add(Observation::Slot::changed, "", title_of_change(made, by_shell));
    std::string subjects;
    for (const Commit* commit : made) subjects.append(commit->subject).append("\n");
    const Mode::Named* type = first_named(fold(subjects), mode_.types);
    if (!type) type = first_named(fold(request_), mode_.types);
    // Decisions and discoveries have slots of their own: a change is neither, even if its words say so.
    o.type = type && type->name != "decision" && type->name != "discovery" ? type->name : "change";
    if (!made.empty())
      // The author's own type is better than a guess from words.
      if (const std::string_view prefix = type_of_prefix(made.front()->subject); !prefix.empty())
        o.type = type_named(prefix);
    add_commits(o);
    add_files(o, others_);
    if (!by_shell.empty()) {
      // With a commit these are only the arguments of `git add`.
      if (made.empty()) add_fact(o, "Changed by commands: " + join(by_shell, 8, "file", "files") + ".");
      for (const Mark& mark : digest_.shell_changes) add_event(o, mark.event);
      o.files_modified.insert(o.files_modified.end(), by_shell.begin(), by_shell.end());
    }
    // With a fix, the answer is mostly about the fix, which has its findings.
    if (fixes_.empty()) o.narrative = shorten(answer_, kMaxNarrative);
    if (!o.narrative.empty()) add_answer(o);
    add_concept(o, "what-changed");
    add_concepts_of(o, o.narrative);
    finish(o);
  }

  std::string title_of_change(const std::vector<const Commit*>& made,
                              const std::vector<std::string>& by_shell) const {
    if (!made.empty()) {
      std::vector<std::string> subjects;
      for (const Commit* commit : made) subjects.push_back(commit->subject);
      return join(subjects, 2, "commit", "commits");
    }
    std::vector<std::string> names, symbols;
    bool created = true;
    for (const FileChange* file : others_) {
      names.push_back(file->path);
      created = created && file->created;
      symbols.insert(symbols.end(), file->symbols.begin(), file->symbols.end());
    }
    if (names.empty()) return "Changed " + join(by_shell, 3, "file", "files") + " by commands";
    const std::string what = (created ? "Created " : "Edited ") + join(names, 3, "file", "files");
    return symbols.empty() ? what : what + ": " + join(symbols, 3, "name", "names");
  }

  void add_failing() {
    const auto commands = still_failing(digest_);
    if (commands.empty()) return;
    const Command& last = *commands.back();
    const std::string why = cause(last.runs.back(), 110);
    Observation& o = add(Observation::Slot::failing, type_named("discovery"),
                         quoted(last.shown) + " fails" + (why.empty() ? "" : ": " + why));
    for (const Command* command : commands) {
      add_fact(o, failure_text(*command, command->runs.back()));
      for (const CommandRun& run : command->runs) add_event(o, run.mark.event);
    }
    add_concept(o, "gotcha");
    finish(o);
  }

  bool edited_between(const Mark& from, const Mark& to) const {
    return std::any_of(digest_.files.begin(), digest_.files.end(), [&](const FileChange& file) {
      return std::any_of(file.marks.begin(), file.marks.end(),
                         [&](const Mark& mark) { return mark.at > from.at && mark.at < to.at; });
    });
  }

  // A program that failed with some arguments and worked with others.
  void add_worked() {
    std::map<std::string, std::size_t> last_success;
    for (std::size_t i = 0; i < digest_.commands.size(); ++i)
      if (const Command& c = digest_.commands[i];
          !c.looks && !c.program.empty() && c.runs.back().how == How::passed)
        last_success[c.program] = i;
    Observation* o = nullptr;
    for (std::size_t i = 0; i < digest_.commands.size(); ++i) {
      const Command& bad = digest_.commands[i];
      const auto good = last_success.find(bad.program);
      // Only a success after the failure shows what works.
      if (bad.looks || !ends_failing(bad) || good == last_success.end() || good->second < i) continue;
      const Command& better = digest_.commands[good->second];
      if (edited_between(bad.runs.back().mark, better.runs.back().mark)) continue;  // the edit fixed it
      if (!o)
        o = &add(Observation::Slot::worked, type_named("discovery"),
                 quoted(better.shown) + " works where " + quoted(bad.shown) + " failed");
      if (o->facts.size() >= 3) break;
      const std::string why = detail(bad.runs.back());
      add_fact(*o, quoted(bad.shown) + " failed" + (why.empty() ? "" : " (" + why + ")") + "; " +
                       quoted(better.shown) + " worked.");
      for (const CommandRun& run : bad.runs) add_event(*o, run.mark.event);
      add_event(*o, better.runs.back().mark.event);
    }
    if (!o) return;
    add_concept(*o, "gotcha");
    finish(*o);
  }

  void add_decided() {
    Observation* o = nullptr;
    for (const Statement& statement : statements_) {
      if (!statement.decision) continue;
      if (!o) o = &add(Observation::Slot::decided, type_named("decision"), statement.text);
      add_fact(*o, statement.text);
    }
    if (!o) return;
    for (const std::string& fact : o->facts) add_concepts_of(*o, fact);
    add_answer(*o);
    finish(*o);
  }

  // Findings, and the subject of a turn that changed nothing.
  void add_found() {
    const bool with_fix = !fixes_.empty();  // reported there
    std::vector<std::string> sentences;
    for (const Statement& statement : statements_)
      if (!statement.decision && !with_fix) sentences.push_back(statement.text);
    // A single look is too little for a heading "Looked into".
    const bool looked = digest_.looked.size() + digest_.delegated.size() >= 2;
    const bool research = out_.empty() && looked && !is_chore(turn_.prompt) &&
                          answer_.size() >= kLeastAnswer && digest_.files.empty();
    if (sentences.empty() && !research) return;
    Observation& o = add(Observation::Slot::found, type_named("discovery"),
                         sentences.empty() ? "Looked into: " + request_ : sentences.front());
    for (std::string& sentence : sentences) add_fact(o, std::move(sentence));
    // In a turn that changed files, looking was a means, not the result.
    if (looked && digest_.files.empty()) {
      add_fact(o, shorten(looks_text(digest_), 600));
      for (const std::string& agent : digest_.agents) add_fact(o, agent);
      for (const auto* marks : {&digest_.looked, &digest_.delegated})
        for (const Mark& mark : *marks) add_event(o, mark.event);
      o.files_read = listed(digest_.read);
    }
    if (research) o.narrative = shorten(answer_, kMaxNarrative);
    add_answer(o);
    add_concepts_of(o, answer_);
    if (o.concepts.empty()) add_concept(o, "how-it-works");
    finish(o);
  }

  const Turn& turn_;
  const Digest& digest_;
  const Mode& mode_;
  std::string answer_;   // empty: the turn failed
  std::string request_;  // on one line
  std::vector<Statement> statements_;
  std::vector<Fix> fixes_;
  std::vector<const FileChange*> fix_files_, others_;  // changed for a fix, and the rest
  std::vector<Observation> out_;
};

}  // namespace

std::vector<Observation> observe(const Turn& turn, const Digest& digest, const std::string& answer,
                                 const Mode& mode) {
  return Observer(turn, digest, answer, mode).run();
}

}  // namespace cairn::distil
