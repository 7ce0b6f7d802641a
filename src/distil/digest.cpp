#include "distil/digest.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "base/quoted.h"
#include "base/text.h"
#include "distil/runs.h"
#include "distil/shell.h"
#include "distil/symbols.h"
#include "distil/test_output.h"
#include "event/origin.h"
#include "host/action.h"

namespace cairn::distil {

using host::Action;
using Verb = host::Action::Verb;

namespace {

constexpr std::size_t kMaxPath = 200;
constexpr std::size_t kMaxCommand = 120;
constexpr std::size_t kMaxWhy = 160;
constexpr std::size_t kMaxSubject = 160;

// What a digest holds at most, however many events a turn has.
constexpr std::size_t kMaxFiles = 500;      // with their changes
constexpr std::size_t kMaxNames = 2000;     // of files read or edited, each
constexpr std::size_t kMaxCommands = 400;   // at twice as many, the less informative half is removed
constexpr std::size_t kMaxRuns = 50;        // of one command
constexpr std::size_t kMaxMarks = 200;      // of one kind: an observation names no more events
constexpr std::size_t kMaxSentences = 200;  // of one kind
constexpr std::size_t kMaxInterrupted = 5;
constexpr std::size_t kMaxTasks = 500;
constexpr std::size_t kMaxMessages = 200;  // of commits and pull requests

// Adds to a list that keeps its newest entries.
template <class T>
void push(std::vector<T>& list, T item, std::size_t max) {
  if (list.size() >= max) list.erase(list.begin());
  list.push_back(std::move(item));
}

void insert(std::set<std::string>& names, std::string name) {
  if (names.size() < kMaxNames) names.insert(std::move(name));
}

std::string shown(std::string_view text, std::size_t max) {
  return shown_text(text, max);
}

std::int64_t count_lines(std::string_view text) {
  return std::ssize(lines(text));
}

// A command line for a reader: its first line, with a mark when there is more.
std::string shown_command(std::string_view command) {
  const std::string text = visible(prefix(command, 8 * kMaxCommand));
  std::string_view all = trim(text);
  while (all.starts_with('#') && all.find('\n') != std::string_view::npos)  // comments
    all = trim(all.substr(all.find('\n')));
  const std::size_t end = all.find('\n');
  std::string out = one_line(all.substr(0, end), kMaxCommand);
  if (end != std::string_view::npos && !out.ends_with("\xe2\x80\xa6")) out.append(" \xe2\x80\xa6");
  return out;
}

std::string shown_tool(std::string_view name) {
  const std::string text = shown(name, 80);
  return is_tool_name(text) ? text : quoted(text);
}

// Functions are searched for in source code only, not in prose and data.
bool is_source(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot != std::string_view::npos &&
         !any_of(path.substr(dot), {".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".lock",
                                    ".csv", ".html", ".css", ".xml", ".svg", ".rst", ".ini", ".cfg", ".log"});
}

// Why a call failed: the first sentence of its error, without its full stop.
std::string why_failed(const Step& step, const Action& action) {
  std::string text = shown(step.error, kMaxWhy);
  if (const std::size_t end = text.find(". "); end != std::string::npos) text.resize(end);
  while (text.ends_with('.')) text.pop_back();
  return quote(action.origin, text);
}

}  // namespace

// One step goes through add(), which counts it and sorts out interrupted and refused calls, then take(),
// which chooses a function by the action's verb. Each function adds to its own lists. A step of a
// subagent counts for the files that it read and changed, but its commands and searches are not listed: the
// sentence about the subagent's result (agent()) is used instead of them.
class Digester::Collector {
 public:
  explicit Collector(std::string root) : root_(std::move(root)) {}

  void add(const Step& step, const Action& action) {
    mark_ = {count_++, step.event};
    if (!step.agent_type.empty()) ++out_.subagent_steps;
    // Even if the call fails below: its text may have reached the answer.
    if (action.origin && *action.origin != Origin::output) push(out_.outside, mark_, kMaxMarks);
    if (step.outcome == Step::Outcome::interrupted)
      push(out_.interrupted, doing(action), kMaxInterrupted);
    else if (!action.refused)
      take(step, action);
  }
  const Digest& digest() const { return out_; }

 private:
  std::string path(std::string_view text) const { return shown_path(text, root_); }

  std::string doing(const Action& action) const {
    if (action.verb == Verb::run) return quoted(shown_command(cleaned(action)));
    if (action.verb == Verb::delegate)
      return "the subagent " + quoted(shown(action.description, kMaxSubject), '"');
    return shown_tool(action.tool) + (action.path.empty() ? "" : " of " + path(action.path));
  }

  void take(const Step& step, const Action& action) {
    switch (action.verb) {
      case Verb::run: return command(step, action);
      case Verb::write:
      case Verb::edit: return change(step, action);
      case Verb::read: return read(step, action);
      case Verb::search: return search(step, action);
      case Verb::fetch:
      case Verb::search_web: return fetch(step, action);
      case Verb::delegate: return agent(step, action);
      case Verb::track: return step.outcome == Step::Outcome::ok ? tasks(action) : void();
      case Verb::routine: return;
      case Verb::plan:
      case Verb::ask: return;  // shown as open items and in the answer
      case Verb::other: return step.agent_type.empty() ? other(step, action) : void();
    }
  }

  // The command without "cd ROOT && ", which agents often put first and which says nothing.
  std::string cleaned(const Action& action) const {
    const std::string move = "cd " + root_ + " && ";
    std::string_view rest = trim(action.command);
    if (!root_.empty() && rest.starts_with(move)) rest = trim(rest.substr(move.size()));
    return std::string(rest);
  }

  void command(const Step& step, const Action& action) {
    const std::string text = cleaned(action);
    if (text.empty()) return;
    const bool ok = step.outcome == Step::Outcome::ok;
    ShellFiles files = shell_files(text);
    if (ok) {
      for (const std::string& file : files.read) insert(out_.read, path(file));
      for (const std::string& file : files.written) insert(out_.edited, path(file));
      if (!files.written.empty()) push(out_.shell_changes, mark_, kMaxMarks);
    }
    if (files.only_looks && ok) push(out_.looked, mark_, kMaxMarks);
    if (!step.agent_type.empty()) return;
    if (!ok)
      // `foo && make test` that fails with "foo: not found" has not run the test.
      if (std::string program = blamed_program(files, step.error); program != files.program) {
        files.check.clear();  // the check was not run
        files.program = std::move(program);
      }
    Command& entry = entry_of(text, files, action.description);
    if (ok) take_messages(entry, text, files, action.output);
    CommandRun run = run_of(step, action, files, entry.check);
    // A line that failed before its check was run has an entry of its own: add the passing run there too.
    if (const auto whole = commands_.find(content_hash(text)); ok && whole != commands_.end())
      if (Command& other = out_.commands[whole->second]; &other != &entry) add_run(other, run);
    add_run(entry, std::move(run));
  }

  CommandRun run_of(const Step& step, const Action& action, const ShellFiles& files, bool check) const {
    CommandRun run;
    if (step.outcome != Step::Outcome::ok)
      run = failed_run(step.error, files);
    else if (action.interrupted)
      run.how = CommandRun::How::interrupted;
    else if (action.background)
      run.how = CommandRun::How::background;
    else if (check && !files.status_of_check)
      run = judged_run(action.output);
    else if (check)
      run.passed = read_test_output(action.output).passed;
    run.mark = mark_;
    return run;
  }

  // Keeps the first run of a command and the newest ones: the first failure and how it ended make a fix.
  static void add_run(Command& command, CommandRun run) {
    if (command.runs.size() >= kMaxRuns) command.runs.erase(command.runs.begin() + 1);
    command.runs.push_back(std::move(run));
  }

  void take_messages(Command& entry, const std::string& text, const ShellFiles& files,
                     std::string_view output) {
    if (files.makes_commits)
      for (Commit& commit : commits_of(text, files, output)) {
        commit.mark = mark_;
        push(entry.commits, std::move(commit), kMaxMessages);
      }
    for (std::string pull : {pull_of(files, output), merged_pull(files, output)})
      if (!pull.empty()) push(out_.pulls, {std::move(pull), mark_}, kMaxMessages);
  }

  // A check is identified by itself, so that `make test` and `make test | tail` are one; any other command by
  // its whole text.
  Command& entry_of(const std::string& text, const ShellFiles& files, std::string_view purpose) {
    std::string check = files.check;
    // Where its errors go does not make it another check.
    for (const std::string_view tail : {" 2>/dev/null", " 2>&1"})
      if (check.ends_with(tail)) check.resize(check.size() - tail.size());
    const std::string key = content_hash(check.empty() ? text : check);
    if (const auto known = commands_.find(key); known != commands_.end()) return out_.commands[known->second];
    if (out_.commands.size() >= 2 * kMaxCommands) leave_out_commands();
    commands_.emplace(key, out_.commands.size());
    Command entry;
    entry.key = key;
    entry.shown = shown_command(check.empty() || files.makes_commits ? text : check);
    entry.purpose = shown(purpose, kMaxSubject);
    entry.program = files.program;
    entry.check = !check.empty();
    entry.looks = files.only_looks;
    entry.only_commits = files.only_commits;
    return out_.commands.emplace_back(std::move(entry));
  }

  // Leaves out half of the commands: those that only showed something, then those that passed, the oldest
  // first.
  void leave_out_commands() {
    const auto worth = [](const Command& c) {
      const bool failing = !c.runs.empty() && c.runs.back().how == CommandRun::How::failed;
      return failing || !c.commits.empty() ? 3 : c.looks ? 0 : c.check ? 2 : 1;
    };
    std::size_t left_out = 0;
    for (int least = 0; least <= 3 && left_out < kMaxCommands; ++least)
      std::erase_if(out_.commands, [&](const Command& c) {
        return left_out < kMaxCommands && worth(c) <= least && ++left_out > 0;
      });
    // The positions have changed.
    commands_.clear();
    for (std::size_t i = 0; i < out_.commands.size(); ++i) commands_.emplace(out_.commands[i].key, i);
  }

  void change(const Step& step, const Action& action) {
    if (action.path.empty()) return;
    const std::string name = path(action.path);
    const bool writes = action.verb == Verb::write;
    if (step.outcome != Step::Outcome::ok) {
      push(out_.failures,
           (writes ? "Writing " : "Editing ") + name + " failed: " + why_failed(step, action) + ".",
           kMaxSentences);
      return;
    }
    insert(out_.edited, name);
    if (out_.files.size() >= kMaxFiles && !files_.contains(name)) return;
    FileChange& file_change = change_of(name);
    push(file_change.marks, mark_, kMaxMarks);
    // A write without hunks replaces the whole file; with hunks it is an edit of a file that existed.
    if (writes && action.hunks.empty()) {
      (action.existed ? file_change.edited : file_change.created) = true;
      file_change.lines = count_lines(action.content);
      if (is_source(name)) add_symbols(file_change, defined_symbols(action.content));
      return;
    }
    file_change.edited = true;
    add_lines(file_change, action);
    if (is_source(name)) add_symbols(file_change, touched_symbols(action.hunks, action.before));
  }

  FileChange& change_of(const std::string& name) {
    const auto [known, added] = files_.try_emplace(name, out_.files.size());
    if (added) out_.files.emplace_back().path = name;
    return out_.files[known->second];
  }

  static void add_symbols(FileChange& file, std::vector<std::string> names) {
    constexpr std::size_t kMax = 6;
    for (std::string& name : names)
      if (file.symbols.size() < kMax &&
          std::find(file.symbols.begin(), file.symbols.end(), name) == file.symbols.end())
        file.symbols.push_back(std::move(name));
  }

  static void add_lines(FileChange& file, const Action& action) {
    for (const host::Hunk& hunk : action.hunks)
      for (const std::string_view line : hunk.lines) {
        file.added += line.starts_with('+');
        file.removed += line.starts_with('-');
      }
    for (const host::Replacement& replacement : action.replacements) {
      file.added += count_lines(replacement.after);
      file.removed += count_lines(replacement.before);
    }
  }

  void read(const Step& step, const Action& action) {
    if (action.path.empty()) return;
    if (step.outcome == Step::Outcome::ok) {
      insert(out_.read, path(action.path));
      push(out_.looked, mark_, kMaxMarks);
    } else if (step.agent_type.empty()) {
      push(out_.not_found, "Could not read " + path(action.path) + ": " + why_failed(step, action) + ".",
           kMaxSentences);
    }
  }

  void search(const Step& step, const Action& action) {
    const std::string pattern = shown(action.query, 80);
    if (pattern.empty() || !step.agent_type.empty()) return;
    add_unique(out_.searches, quoted(pattern));
    push(out_.looked, mark_, kMaxMarks);
  }

  void fetch(const Step& step, const Action& action) {
    if (!step.agent_type.empty()) return;
    const std::string what = shown(action.query, 160);
    if (what.empty()) return;
    if (step.outcome != Step::Outcome::ok)
      push(out_.not_found, "Could not fetch " + what + ": " + why_failed(step, action) + ".", kMaxSentences);
    else
      add_unique(out_.fetches, action.verb == Verb::search_web ? "the web for " + quoted(what) : what);
    push(out_.looked, mark_, kMaxMarks);
  }

  // The first line that is long enough to say something (not "Perfect!"), else the first line.
  static std::string_view first_telling_line(std::string_view text) {
    constexpr std::size_t kLeast = 25;
    const std::vector<std::string_view> all = lines(text);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [](std::string_view line) { return trim(line).size() >= kLeast; });
    return found != all.end() ? *found : text.substr(0, text.find('\n'));
  }

  void agent(const Step& step, const Action& action) {
    const std::string kind = shown(action.agent, 60);
    push(out_.delegated, mark_, kMaxMarks);
    std::string sentence = "Subagent" + (kind.empty() ? "" : " (" + kind + ")");
    if (const std::string task = shown(action.description, kMaxSubject); !task.empty())
      sentence += " " + quoted(task, '"');
    if (step.outcome != Step::Outcome::ok) {
      push(out_.agents, sentence + " failed: " + why_failed(step, action) + ".", kMaxSentences);
      return;
    }
    const std::string result = visible(prefix(action.result, 4000));
    const std::string_view text = trim(result);
    const std::string line = one_line(first_telling_line(text), 240);
    sentence += line.empty() ? "" : ": " + line;
    // \xa6 is the last byte of the ellipsis that one_line() adds.
    const bool ended = !line.empty() && line.find_last_of(".!?\xa6") == line.size() - 1;
    push(out_.agents, sentence + (ended ? "" : "."), kMaxSentences);
  }

  void other(const Step& step, const Action& action) {
    const std::string name = shown_tool(action.tool);
    if (step.outcome != Step::Outcome::ok)
      push(out_.failures, name + " failed: " + why_failed(step, action) + ".", kMaxSentences);
    else if (out_.other_tools.size() < kMaxSentences || out_.other_tools.contains(name))
      ++out_.other_tools[name];
  }

  void tasks(const Action& action) {
    if (action.all_tasks) out_.tasks.clear();
    for (const host::TaskChange& change : action.tasks) {
      const std::string subject = shown(change.subject, kMaxSubject);
      const host::TaskChange::State state = change.state;
      // A change without a subject is about a task that an earlier call named, perhaps in another turn.
      if (action.all_tasks || !change.subject.empty())
        add_task(change.id, subject, state);
      else
        update_task(change.id, state);
    }
  }

  std::vector<Task>::iterator find_task(const std::string& id) {
    return std::find_if(out_.tasks.begin(), out_.tasks.end(),
                        [&](const Task& t) { return !id.empty() && t.id == id; });
  }

  void add_task(const std::string& id, const std::string& subject, host::TaskChange::State state) {
    const auto task = find_task(id);
    if (task == out_.tasks.end()) {
      push(out_.tasks, {id, subject, state}, kMaxTasks);
      return;
    }
    task->subject = subject;
    if (state != host::TaskChange::State::unknown) task->state = state;
  }

  void update_task(const std::string& id, host::TaskChange::State state) {
    if (id.empty()) return;
    auto task = find_task(id);
    if (task == out_.tasks.end()) {
      push(out_.tasks, {id, "task " + shown(id, 40)}, kMaxTasks);
      task = out_.tasks.end() - 1;
    }
    if (state != host::TaskChange::State::unknown) task->state = state;
  }

  // One set (seen_) serves both lists, searches and addresses: searches are quoted and addresses are not, so
  // an item of one list never equals one of the other.
  void add_unique(std::vector<std::string>& list, std::string item) {
    if (seen_.size() >= kMaxNames || !seen_.insert(item).second) return;
    list.push_back(std::move(item));
  }

  std::string root_;
  std::size_t count_ = 0;
  Digest out_;
  Mark mark_;                                              // of the current step
  std::unordered_map<std::string, std::size_t> commands_;  // key -> index in out_.commands
  std::unordered_map<std::string, std::size_t> files_;     // path -> index in out_.files
  std::unordered_set<std::string> seen_;
};

bool is_tool_name(std::string_view text) {
  const auto is_sign = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_sign);
}

std::string shown_path(std::string_view path, std::string_view root) {
  while (root.size() > 1 && root.ends_with('/')) root.remove_suffix(1);
  if (!root.empty() && path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/'))
    path.remove_prefix(root.size() + (path.size() > root.size()));
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..")
      parts.pop_back();
    else
      parts.push_back(part);
  }
  std::string out = path.starts_with('/') ? "/" : "";
  for (const std::string_view part : parts) out.append(out.empty() || out == "/" ? "" : "/").append(part);
  return out.empty() ? "." : shown(out, kMaxPath);
}

Digester::Digester(std::string root) : collector_(std::make_unique<Collector>(std::move(root))) {}
Digester::Digester(const Digester& other) : collector_(std::make_unique<Collector>(*other.collector_)) {}
Digester::~Digester() = default;

void Digester::add(const Step& step, const Action& action) {
  collector_->add(step, action);
}

const Digest& Digester::digest() const {
  return collector_->digest();
}

}  // namespace cairn::distil
