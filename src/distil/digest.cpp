#include "distil/digest.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "distil/shell.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxPath = 200;
constexpr std::size_t kMaxCommand = 120;
constexpr std::size_t kMaxWhy = 160;
constexpr std::size_t kMaxSubject = 160;

bool any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string shown(std::string_view text, std::size_t max) {
  return one_line(visible(prefix(text, 8 * max)), max);
}

std::string text_of(const Json& value) {
  return std::string(value.as_string());
}

std::int64_t count_lines(std::string_view text) {
  return std::ssize(lines(text));
}

// A command line for a reader: its first line, with a mark when there is more.
std::string shown_command(std::string_view command) {
  const std::string text = visible(prefix(command, 8 * kMaxCommand));
  const std::string_view all = trim(text);
  const std::size_t end = all.find('\n');
  std::string out = one_line(all.substr(0, end), kMaxCommand);
  if (end != std::string_view::npos && !out.ends_with("\xe2\x80\xa6")) out.append(" \xe2\x80\xa6");
  return out;
}

bool is_check(std::string_view command) {
  const std::string lower = ascii_lower(prefix(command, 500));
  if (any_of(lower.substr(0, lower.find(' ')), {"echo", "printf", "cat", "grep", "git", "ls"})) return false;
  std::size_t from = 0;
  while (from < lower.size()) {
    const std::size_t end =
        std::min(lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz", from), lower.size());
    if (any_of(lower.substr(from, end - from),
               {"test", "tests",  "check",     "lint",  "build",   "make",  "ctest",  "pytest",
                "jest", "vitest", "cargo",     "tsc",   "mypy",    "ruff",  "eslint", "gradle",
                "mvn",  "ninja",  "typecheck", "rspec", "phpunit", "clippy"}))
      return true;
    from = end + 1;
  }
  return false;
}

bool is_telling(std::string_view line) {
  const std::string lower = ascii_lower(line);
  for (const std::string_view cue :
       {"error", "fail", "exception", "panic", "cannot", "not found", "undefined", "no such", "expected",
        "assert", "denied", "unable", "fatal", "invalid", "missing"})
    if (lower.find(cue) != std::string::npos) return true;
  return false;
}

// Exit code and first telling line of an error text.
Run failed_run(std::string_view error) {
  Run run{Run::How::failed, "", ""};
  const std::string text = visible(prefix(error, 20'000));
  std::string first;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    if (run.code.empty() && first.empty() && starts_with_nocase(line, "exit code ")) {
      run.code = "exit code " + one_line(line.substr(10), 20);
      continue;
    }
    if (first.empty()) first = one_line(line, kMaxWhy);
    if (is_telling(line)) {
      run.why = one_line(line, kMaxWhy);
      return run;
    }
  }
  run.why = first;
  return run;
}

// The first sentence of a message, without its full stop.
std::string first_sentence(std::string_view message) {
  std::string text = shown(message, kMaxWhy);
  if (const std::size_t end = text.find(". "); end != std::string::npos) text.resize(end);
  while (text.ends_with('.')) text.pop_back();
  return text;
}

// The text of a tool's result: a string, or the first text block.
std::string result_text(const Json& value) {
  if (value.is_string()) return text_of(value);
  for (const Json* list : {&value, &value["content"]})
    for (const Json& item : list->items())
      if (item["text"].is_string()) return text_of(item["text"]);
  return text_of(value["result"]);
}

class Collector {
 public:
  explicit Collector(const Turn& turn) : turn_(turn) {}

  Digest run() {
    for (const Step& step : turn_.steps) {
      if (!step.agent_type.empty()) ++out_.subagent_steps;
      if (step.outcome == Step::Outcome::interrupted)
        out_.interrupted.push_back(doing(step));
      else
        take(step);
    }
    return std::move(out_);
  }

 private:
  std::string path(std::string_view text) const { return shown_path(text, turn_.root); }

  static std::string path_input(const Step& step) {
    for (const char* key : {"file_path", "notebook_path", "path"})
      if (step.input[key].is_string()) return text_of(step.input[key]);
    return text_of(step.response["filePath"]);
  }

  std::string doing(const Step& step) const {
    if (step.tool == "Bash") return "'" + shown_command(cleaned(step)) + "'";
    if (any_of(step.tool, {"Agent", "Task"}))
      return "the subagent \"" + shown(step.input["description"].as_string(), kMaxSubject) + "\"";
    const std::string file = path_input(step);
    return shown(step.tool, 80) + (file.empty() ? "" : " of " + path(file));
  }

  void take(const Step& step) {
    const bool ok = step.outcome == Step::Outcome::ok;
    if (step.tool == "Bash")
      command(step);
    else if (any_of(step.tool, {"Write", "Edit", "MultiEdit", "NotebookEdit"}))
      change(step);
    else if (step.tool == "Read")
      read(step);
    else if (any_of(step.tool, {"Grep", "Glob"}))
      search(step);
    else if (any_of(step.tool, {"WebFetch", "WebSearch"}))
      fetch(step);
    else if (any_of(step.tool, {"Agent", "Task"}))
      agent(step);
    else if (step.tool.starts_with("Task") || step.tool == "TodoWrite")
      ok ? tasks(step) : void();
    else if (!any_of(step.tool, {"BashOutput", "KillShell", "ToolSearch", "TodoRead", "LS", ""}) &&
             step.agent_type.empty())
      other(step);
  }

  std::string cleaned(const Step& step) const {
    const std::string text = text_of(step.input["command"]);
    const std::string move = "cd " + turn_.root + " && ";
    std::string_view rest = trim(text);
    if (!turn_.root.empty() && rest.starts_with(move)) rest = trim(rest.substr(move.size()));
    return std::string(rest);
  }

  void command(const Step& step) {
    const std::string text = cleaned(step);
    if (text.empty()) return;
    const bool ok = step.outcome == Step::Outcome::ok;
    const ShellFiles files = shell_files(text);
    if (ok) {
      for (const std::string& file : files.read) out_.read.insert(path(file));
      for (const std::string& file : files.written) out_.edited.insert(path(file));
    }
    if (!step.agent_type.empty()) return;
    Command& entry = entry_of(text, files);
    if (ok)
      for (const std::string& message : files.commits)
        entry.commits.push_back(commit(message, step.response["stdout"].as_string()));
    if (!ok)
      entry.runs.push_back(failed_run(step.error));
    else if (step.response["interrupted"].as_bool())
      entry.runs.push_back({Run::How::interrupted, "", ""});
    else if (step.response.has("backgroundTaskId"))
      entry.runs.push_back({Run::How::background, "", ""});
    else
      entry.runs.push_back({});
  }

  Command& entry_of(const std::string& text, const ShellFiles& files) {
    for (Command& known : out_.commands)
      if (known.text == text) return known;
    Command entry;
    entry.text = text;
    entry.shown = shown_command(text);
    entry.program = entry.shown.substr(0, entry.shown.find(' '));
    entry.check = is_check(text);
    entry.looks = files.only_looks;
    entry.only_commits = files.only_commits;
    return out_.commands.emplace_back(std::move(entry));
  }

  // `"message"`, after the short hash when git's own line "[main 1a2b3c4] message" says it.
  static std::string commit(std::string_view message, std::string_view output) {
    const std::string quoted = "\"" + shown(message, kMaxSubject) + "\"";
    for (const std::string_view line : lines(prefix(output, 4000))) {
      const std::size_t close = line.find("] ");
      if (!line.starts_with('[') || close == std::string_view::npos) continue;
      const std::string_view hash =
          line.substr(1, close - 1).substr(line.substr(1, close - 1).rfind(' ') + 1);
      if (hash.size() >= 7 && hash.find_first_not_of("0123456789abcdef") == std::string_view::npos)
        return std::string(hash) + " " + quoted;
    }
    return quoted;
  }

  void change(const Step& step) {
    const std::string file = path_input(step);
    if (file.empty()) return;
    const std::string name = path(file);
    if (step.outcome != Step::Outcome::ok) {
      out_.failures.push_back((step.tool == "Write" ? "Writing " : "Editing ") + name +
                              " failed: " + first_sentence(step.error) + ".");
      return;
    }
    out_.edited.insert(name);
    auto known = std::find_if(out_.files.begin(), out_.files.end(),
                              [&](const FileChange& f) { return f.path == name; });
    if (known == out_.files.end()) known = out_.files.insert(known, FileChange{name});
    const Json& patch = step.response["structuredPatch"];
    if (step.tool == "Write" && patch.items().empty()) {
      (step.response["type"].as_string() == "update" ? known->edited : known->created) = true;
      known->lines = count_lines(step.input["content"].as_string());
      return;
    }
    known->edited = true;
    if (!patch.items().empty())
      add_patch(*known, patch);
    else
      add_replacement(*known, step.input);
  }

  static void add_patch(FileChange& file, const Json& patch) {
    for (const Json& hunk : patch.items())
      for (const Json& line : hunk["lines"].items()) {
        file.added += line.as_string().starts_with('+');
        file.removed += line.as_string().starts_with('-');
      }
  }

  static void add_replacement(FileChange& file, const Json& input) {
    file.added += count_lines(input["new_string"].as_string()) + count_lines(input["new_source"].as_string());
    file.removed += count_lines(input["old_string"].as_string());
    for (const Json& edit : input["edits"].items())
      if (!edit["edits"].is_array()) add_replacement(file, edit);
  }

  void read(const Step& step) {
    const std::string file = path_input(step);
    if (file.empty()) return;
    if (step.outcome == Step::Outcome::ok)
      out_.read.insert(path(file));
    else if (step.agent_type.empty())
      out_.not_found.push_back("Could not read " + path(file) + ": " + first_sentence(step.error) + ".");
  }

  void search(const Step& step) {
    const std::string pattern = shown(step.input["pattern"].as_string(), 80);
    if (!pattern.empty() && step.agent_type.empty()) add_unique(out_.searches, "'" + pattern + "'");
  }

  void fetch(const Step& step) {
    if (!step.agent_type.empty()) return;
    const bool search = step.tool == "WebSearch";
    const std::string what = shown(step.input[search ? "query" : "url"].as_string(), 160);
    if (what.empty()) return;
    if (step.outcome != Step::Outcome::ok)
      out_.not_found.push_back("Could not fetch " + what + ": " + first_sentence(step.error) + ".");
    else
      add_unique(out_.fetches, search ? "the web for '" + what + "'" : what);
  }

  void agent(const Step& step) {
    std::string kind = shown(step.input["subagent_type"].as_string(), 60);
    if (kind.empty()) kind = shown(step.response["agentType"].as_string(), 60);
    std::string sentence = "Subagent" + (kind.empty() ? "" : " (" + kind + ")");
    if (const std::string task = shown(step.input["description"].as_string(), kMaxSubject); !task.empty())
      sentence += " \"" + task + "\"";
    if (step.outcome != Step::Outcome::ok) {
      out_.agents.push_back(sentence + " failed: " + first_sentence(step.error) + ".");
      return;
    }
    const std::string result = visible(prefix(result_text(step.response), 4000));
    const std::string_view text = trim(result);
    const std::string line = one_line(text.substr(0, text.find('\n')), 240);
    out_.agents.push_back(
        sentence +
        (line.empty() ? "." : ": " + line + (line.find_last_of(".!?\xa6") == line.size() - 1 ? "" : ".")));
  }

  void other(const Step& step) {
    const std::string name = shown(step.tool, 80);
    if (step.outcome == Step::Outcome::ok)
      out_.other_tools.push_back(name);
    else
      out_.failures.push_back(name + " failed: " + first_sentence(step.error) + ".");
  }

  static std::string id_text(const Json& value) {
    return value.is_int() ? std::to_string(value.as_int()) : text_of(value);
  }

  void tasks(const Step& step) {
    if (step.tool == "TodoWrite") {
      out_.tasks.clear();
      for (const Json& todo : step.input["todos"].items())
        out_.tasks.push_back({"", shown(todo["content"].as_string(), kMaxSubject), text_of(todo["status"])});
    } else if (step.tool == "TaskCreate") {
      const std::string id = id_text(step.response["task"]["id"]);
      out_.tasks.push_back({id, shown(step.input["subject"].as_string(), kMaxSubject), "pending"});
    } else if (step.tool == "TaskUpdate") {
      update_task(id_text(step.input["taskId"]), step.input);
    }
  }

  void update_task(const std::string& id, const Json& input) {
    if (id.empty()) return;
    auto task = std::find_if(out_.tasks.begin(), out_.tasks.end(), [&](const Task& t) { return t.id == id; });
    if (task == out_.tasks.end()) task = out_.tasks.insert(task, {id, "task " + shown(id, 40), ""});
    if (const std::string subject = shown(input["subject"].as_string(), kMaxSubject); !subject.empty())
      task->subject = subject;
    if (input["status"].is_string()) task->status = text_of(input["status"]);
  }

  static void add_unique(std::vector<std::string>& list, std::string item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
  }

  const Turn& turn_;
  Digest out_;
};

}  // namespace

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
  return Collector(turn).run();
}

}  // namespace cairn::distil
