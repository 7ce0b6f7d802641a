#include "distil/digest.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include "base/origin.h"
#include "base/quoted.h"
#include "base/text.h"
#include "distil/shell.h"
#include "distil/symbols.h"
#include "distil/test_output.h"
#include "host/host.h"

namespace cairn::distil {

using host::Action;
using Verb = host::Action::Verb;

namespace {

constexpr std::size_t kMaxPath = 200;
constexpr std::size_t kMaxCommand = 120;
constexpr std::size_t kMaxWhy = 160;
constexpr std::size_t kMaxSubject = 160;

std::string shown(std::string_view text, std::size_t max) {
  return one_line(visible(prefix(text, 8 * max)), max);
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

// The most informative line about a failure: the failed tests, else the first error line.
std::string reason(const TestReport& report, std::string_view text) {
  if (!report.error.empty()) return report.error;
  for (const std::string_view line : lines(prefix(text, 4000)))
    if (!trim(line).empty()) return one_line(visible(line), kMaxWhy);
  return "";
}

// Exit code, first informative line and failed tests of an error text.
Run failed_run(std::string_view error) {
  Run run;
  run.how = Run::How::failed;
  std::string_view text = trim(error);
  if (starts_with_nocase(text, "exit code ")) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    run.code = "exit code " + one_line(visible(text.substr(10, std::min<std::size_t>(end - 10, 40))), 20);
    text = text.substr(end);
  }
  TestReport report = read_test_output(text);
  run.why = reason(report, text);
  run.failed = std::move(report.failed);
  return run;
}

// The result of a check whose exit status is hidden by another command (`make test | tail`), judged by its
// output.
Run judged_run(std::string_view output) {
  Run run;
  TestReport report = read_test_output(output);
  if (report.says_failed) {
    run.how = Run::How::failed;
    run.why = std::move(report.error);
    run.failed = std::move(report.failed);
  } else if (!report.passed.empty()) {
    run.passed = std::move(report.passed);
  } else {
    run.how = Run::How::unknown;
  }
  return run;
}

// Why a call failed: the first sentence of its error, without its full stop.
std::string why_failed(const Step& step, const Action& action) {
  std::string text = shown(step.error, kMaxWhy);
  if (const std::size_t end = text.find(". "); end != std::string::npos) text.resize(end);
  while (text.ends_with('.')) text.pop_back();
  return quote(action.origin, text);
}

std::string_view state_name(host::TaskChange::State state) {
  switch (state) {
    case host::TaskChange::State::pending: return "pending";
    case host::TaskChange::State::in_progress: return "in_progress";
    case host::TaskChange::State::completed: return "completed";
    case host::TaskChange::State::deleted: return "deleted";
    case host::TaskChange::State::unknown: break;
  }
  return "";
}

// Adds the steps of a turn one by one.
class Collector {
 public:
  Collector(std::string root, std::string_view host) : root_(std::move(root)), host_(host::find_host(host)) {}

  void add(const Step& step) {
    mark_ = {count_++, step.event};
    if (!step.agent_type.empty()) ++out_.subagent_steps;
    const Action action = host_.read_action({step.tool, step.input, step.response});
    if (action.origin && *action.origin != Origin::output) out_.outside.push_back(mark_);
    if (step.outcome == Step::Outcome::interrupted)
      out_.interrupted.push_back(doing(action));
    else
      take(step, action);
  }
  Digest take_all() { return std::move(out_); }

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
      case Verb::ask:
      case Verb::other: return step.agent_type.empty() ? other(step, action) : void();
    }
  }

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
    const ShellFiles files = shell_files(text);
    if (ok) {
      for (const std::string& file : files.read) out_.read.insert(path(file));
      for (const std::string& file : files.written) out_.edited.insert(path(file));
      if (!files.written.empty()) out_.shell_changes.push_back(mark_);
    }
    if (files.only_looks && ok) out_.looked.push_back(mark_);
    if (!step.agent_type.empty()) return;
    Command& entry = entry_of(text, files, action.description);
    if (ok && files.makes_commits) commits(entry, text, files, action.output);
    if (ok) pulls(files, action.output);
    Run run;
    if (!ok)
      run = failed_run(step.error);
    else if (action.interrupted)
      run.how = Run::How::interrupted;
    else if (action.background)
      run.how = Run::How::background;
    else if (entry.check && !files.status_of_check)
      run = judged_run(action.output);
    else if (entry.check)
      run.passed = read_test_output(action.output).passed;
    run.mark = mark_;
    entry.runs.push_back(std::move(run));
  }

  // A check is identified by itself, so that `make test` and `make test | tail` are one; any other command by
  // its whole text.
  Command& entry_of(const std::string& text, const ShellFiles& files, std::string_view purpose) {
    std::string check = files.check;
    for (const std::string_view tail : {" 2>/dev/null", " 2>&1"})
      if (check.ends_with(tail)) check.resize(check.size() - tail.size());
    const std::string& key = check.empty() ? text : check;
    const auto [known, added] = commands_.try_emplace(key, out_.commands.size());
    if (!added) return out_.commands[known->second];
    Command entry;
    entry.shown = shown_command(check.empty() || files.makes_commits ? text : check);
    entry.purpose = shown(purpose, kMaxSubject);
    entry.program = files.program;
    entry.check = !check.empty();
    entry.looks = files.only_looks;
    entry.only_commits = files.only_commits;
    return out_.commands.emplace_back(std::move(entry));
  }

  // The commits from git's lines "[main 1a2b3c4] subject", else from the command's messages. A subject that
  // the command contains was written by the agent.
  void commits(Command& entry, const std::string& text, const ShellFiles& files, std::string_view output) {
    const std::size_t before = entry.commits.size();
    for (const std::string_view line : lines(prefix(output, 8000))) {
      const std::size_t close = line.find("] ");
      if (!line.starts_with('[') || close == std::string_view::npos) continue;
      const std::string_view place = line.substr(1, close - 1);
      const std::string_view hash = place.substr(place.rfind(' ') + 1);
      if (hash.size() < 7 || hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) continue;
      std::string subject = shown(line.substr(close + 2), kMaxSubject);
      std::string whole = message_with(files.commits, trim(line.substr(close + 2)));
      if (whole.empty() && text.find(subject) != std::string::npos) whole = subject;
      if (text.find(subject) == std::string::npos) subject = quote(Origin::output, subject);
      if (!whole.empty()) whole = std::string(hash) + " " + whole;
      entry.commits.push_back(
          {std::string(hash) + " " + quoted(subject, '"'), subject, std::move(whole), mark_});
    }
    if (entry.commits.size() > before) return;
    for (const std::string& message : files.commits) {
      const std::string subject = shown(lines(message).front(), kMaxSubject);
      entry.commits.push_back({quoted(subject, '"'), subject, without_trailers(message), mark_});
    }
  }

  // The message with the subject that git printed, without trailers; empty when the command has none.
  static std::string message_with(const std::vector<std::string>& messages, std::string_view subject) {
    for (const std::string& message : messages)
      if (trim(lines(message).front()) == subject) return without_trailers(message);
    return {};
  }

  // Trailers such as "Co-authored-by: ..." are dropped.
  static std::string without_trailers(std::string_view message) {
    std::string out;
    const std::string text = visible(prefix(message, 8000));
    for (const std::string_view line : lines(text)) {
      const std::string lower = ascii_lower(trim(line));
      if (lower.starts_with("co-authored-by:") || lower.starts_with("signed-off-by:") ||
          lower.find("generated with") != std::string::npos)
        continue;
      out.append(out.empty() ? "" : "\n").append(line);
    }
    return std::string(trim(out));
  }

  // `gh pr create` prints the address of the pull request.
  void pulls(const ShellFiles& files, std::string_view output) {
    if (files.pulls.empty()) return;
    std::string address, number;
    for (const std::string_view line : lines(prefix(output, 8000))) {
      const std::size_t at = line.find("/pull/");
      const std::size_t begin = line.find("https://");
      if (at == std::string_view::npos || begin > at) continue;
      const std::size_t end = std::min(line.find_first_not_of("0123456789", at + 6), line.size());
      address = shown(line.substr(begin, end - begin), 200);
      number = line.substr(at + 6, end - at - 6);
    }
    std::string text = number.empty() ? "" : "#" + number + " ";
    text += shown(files.pulls.back().title, kMaxSubject);
    if (!address.empty()) text += " " + address;
    const std::string body = without_trailers(files.pulls.back().body);
    if (!trim(text).empty())
      out_.pulls.push_back({std::string(trim(text)) + (body.empty() ? "" : "\n\n" + body), mark_});
  }

  void change(const Step& step, const Action& action) {
    if (action.path.empty()) return;
    const std::string name = path(action.path);
    const bool writes = action.verb == Verb::write;
    if (step.outcome != Step::Outcome::ok) {
      out_.failures.push_back((writes ? "Writing " : "Editing ") + name +
                              " failed: " + why_failed(step, action) + ".");
      return;
    }
    out_.edited.insert(name);
    FileChange& file_change = change_of(name);
    file_change.marks.push_back(mark_);
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
      out_.read.insert(path(action.path));
      out_.looked.push_back(mark_);
    } else if (step.agent_type.empty())
      out_.not_found.push_back("Could not read " + path(action.path) + ": " + why_failed(step, action) + ".");
  }

  void search(const Step& step, const Action& action) {
    const std::string pattern = shown(action.query, 80);
    if (pattern.empty() || !step.agent_type.empty()) return;
    add_unique(out_.searches, quoted(pattern));
    out_.looked.push_back(mark_);
  }

  void fetch(const Step& step, const Action& action) {
    if (!step.agent_type.empty()) return;
    const std::string what = shown(action.query, 160);
    if (what.empty()) return;
    if (step.outcome != Step::Outcome::ok)
      out_.not_found.push_back("Could not fetch " + what + ": " + why_failed(step, action) + ".");
    else
      add_unique(out_.fetches, action.verb == Verb::search_web ? "the web for " + quoted(what) : what);
    out_.looked.push_back(mark_);
  }

  void agent(const Step& step, const Action& action) {
    const std::string kind = shown(action.agent, 60);
    out_.delegated.push_back(mark_);
    std::string sentence = "Subagent" + (kind.empty() ? "" : " (" + kind + ")");
    if (const std::string task = shown(action.description, kMaxSubject); !task.empty())
      sentence += " " + quoted(task, '"');
    if (step.outcome != Step::Outcome::ok) {
      out_.agents.push_back(sentence + " failed: " + why_failed(step, action) + ".");
      return;
    }
    const std::string result = visible(prefix(action.result, 4000));
    const std::string_view text = trim(result);
    const std::string line = one_line(text.substr(0, text.find('\n')), 240);
    out_.agents.push_back(
        sentence +
        (line.empty() ? "." : ": " + line + (line.find_last_of(".!?\xa6") == line.size() - 1 ? "" : ".")));
  }

  void other(const Step& step, const Action& action) {
    const std::string name = shown_tool(action.tool);
    if (step.outcome == Step::Outcome::ok)
      out_.other_tools.push_back(name);
    else
      out_.failures.push_back(name + " failed: " + why_failed(step, action) + ".");
  }

  void tasks(const Action& action) {
    if (action.all_tasks) out_.tasks.clear();
    for (const host::TaskChange& change : action.tasks) {
      const std::string subject = shown(change.subject, kMaxSubject);
      const std::string state(state_name(change.state));
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

  void add_task(const std::string& id, const std::string& subject, const std::string& state) {
    const auto task = find_task(id);
    if (task == out_.tasks.end()) {
      out_.tasks.push_back({id, subject, state});
      return;
    }
    task->subject = subject;
    if (!state.empty()) task->status = state;
  }

  void update_task(const std::string& id, const std::string& state) {
    if (id.empty()) return;
    auto task = find_task(id);
    if (task == out_.tasks.end()) task = out_.tasks.insert(task, {id, "task " + shown(id, 40), ""});
    if (!state.empty()) task->status = state;
  }

  // Adds to one of two lists: searches are quoted, addresses are not.
  void add_unique(std::vector<std::string>& list, std::string item) {
    if (seen_.insert(item).second) list.push_back(std::move(item));
  }

  std::string root_;
  const host::Host& host_;
  std::size_t count_ = 0;
  Digest out_;
  Mark mark_;                                              // of the current step
  std::unordered_map<std::string, std::size_t> commands_;  // key -> index in out_.commands
  std::unordered_map<std::string, std::size_t> files_;     // path -> index in out_.files
  std::unordered_set<std::string> seen_;
};

}  // namespace

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

Digest digest(const Turn& turn) {
  Collector collector(turn.root, turn.host);
  for (const Step& step : turn.steps) collector.add(step);
  return collector.take_all();
}

}  // namespace cairn::distil
