// The words: a digest and the last answer become the summary that the next session is given.
#include <algorithm>

#include "base/text.h"
#include "distil/digest.h"
#include "distil/sentences.h"
#include "distil/turn.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxField = 2000;
constexpr std::size_t kMaxRequest = 500;
constexpr std::size_t kMaxAnswer = 700;
constexpr std::size_t kMaxFiles = 200;  // of each list

std::string number(std::int64_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

// "a, b and 3 more files".
std::string join(const std::vector<std::string>& items, std::size_t max, std::string_view one,
                 std::string_view many) {
  std::string out;
  const std::size_t shown = items.size() <= max + 1 ? items.size() : max;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == items.size();
    out.append(i == 0 ? "" : last ? " and " : ", ").append(items[i]);
  }
  if (shown < items.size()) {
    const std::size_t left = items.size() - shown;
    out.append(" and " + std::to_string(left) + " more ").append(left == 1 ? one : many);
  }
  return out;
}

struct Fact {
  enum class Of { file, command, other };
  std::string text;
  int worth = 0;  // what is worth least goes first when there is too much
  Of of = Of::other;
};

std::string told(const FileChange& file) {
  const std::string lines = number(file.lines, "line", "lines");
  const std::string delta = "+" + std::to_string(file.added) + " -" + std::to_string(file.removed);
  const bool counted = file.added + file.removed > 0;
  if (file.created && file.edited)
    return "Created " + file.path + " (" + lines + "), then edited it" +
           (counted ? " (" + delta + ")." : ".");
  if (file.created) return "Created " + file.path + " (" + lines + ").";
  if (counted) return "Edited " + file.path + " (" + delta + ").";
  return "Rewrote " + file.path + (file.lines > 0 ? " (" + lines + ")." : ".");
}

std::string times(std::size_t n) {
  return n == 1 ? "" : n == 2 ? " twice" : " " + std::to_string(n) + " times";
}

// "failed twice (exit code 1: expected 3), then passed".
std::string told(const std::vector<Run>& runs) {
  std::string out;
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t end = i + 1;
    while (end < runs.size() && runs[end].how == runs[i].how && runs[end].code == runs[i].code) ++end;
    const Run& last = runs[end - 1];
    out.append(i == 0 ? "" : ", then ");
    switch (last.how) {
      case Run::How::passed: out.append("passed"); break;
      case Run::How::failed: out.append("failed"); break;
      case Run::How::interrupted: out.append("was interrupted"); break;
      case Run::How::background: out.append("started in the background"); break;
    }
    out.append(times(end - i));
    std::string detail = last.code;
    if (!last.why.empty()) detail.append(detail.empty() ? "" : ": ").append(last.why);
    if (!detail.empty()) out.append(" (" + detail + ")");
    i = end;
  }
  return out;
}

bool all_passed(const Command& command) {
  return std::all_of(command.runs.begin(), command.runs.end(),
                     [](const Run& r) { return r.how == Run::How::passed; });
}

bool ends_failing(const Command& command) {
  return command.runs.back().how == Run::How::failed;
}

std::string told(const Command& command) {
  const std::string quoted = "'" + command.shown + "'";
  if (!all_passed(command)) {
    if (command.runs.size() == 1 && command.runs[0].how == Run::How::background)
      return "Started " + quoted + " in the background.";
    return "Ran " + quoted + ": " + told(command.runs) + ".";
  }
  return "Ran " + quoted + times(command.runs.size()) + (command.check ? ": passed." : ".");
}

void add_commands(const Digest& digest, std::vector<Fact>& facts) {
  for (const Command& command : digest.commands) {
    const bool failing = ends_failing(command);
    const bool quiet = all_passed(command) && (command.looks || command.only_commits);
    if (!quiet) facts.push_back({told(command), failing ? 4 : command.check ? 3 : 1, Fact::Of::command});
    for (const std::string& commit : command.commits) facts.push_back({"Committed " + commit + ".", 5});
  }
}

void add_other_tools(const Digest& digest, std::vector<Fact>& facts) {
  std::vector<std::string> names = digest.other_tools;
  std::sort(names.begin(), names.end());
  std::vector<std::string> counted;
  for (auto name = names.begin(); name != names.end();) {
    const auto end = std::upper_bound(name, names.end(), *name);
    counted.push_back(*name + times(static_cast<std::size_t>(end - name)));
    name = end;
  }
  if (!counted.empty()) facts.push_back({"Used " + join(counted, 6, "tool", "tools") + ".", 0});
}

std::vector<Fact> facts_of(const Digest& digest) {
  std::vector<Fact> facts;
  for (const FileChange& file : digest.files) facts.push_back({told(file), 3, Fact::Of::file});
  for (const std::string& failure : digest.failures) facts.push_back({failure, 2});
  add_commands(digest, facts);
  for (const std::string& agent : digest.agents) facts.push_back({agent, 4});
  add_other_tools(digest, facts);
  std::vector<std::string> done;
  for (const Task& task : digest.tasks)
    if (task.status == "completed") done.push_back(task.subject);
  if (!done.empty()) facts.push_back({"Finished: " + join(done, 6, "task", "tasks") + ".", 2});
  return facts;
}

// "And 10 more commands and 2 more files."
std::string told_left_out(std::int64_t commands, std::int64_t files, std::int64_t others) {
  std::vector<std::string> parts;
  if (commands > 0) parts.push_back(number(commands, "more command", "more commands"));
  if (files > 0) parts.push_back(number(files, "more file", "more files"));
  if (others > 0) parts.push_back(number(others, "more step", "more steps"));
  return parts.empty() ? "" : "And " + join(parts, 3, "", "") + ".";
}

// The facts as one paragraph of at most `max` bytes.
std::string paragraph(std::vector<Fact> facts, std::size_t max) {
  std::size_t size = 0;
  for (const Fact& fact : facts) size += fact.text.size() + 1;
  std::int64_t commands = 0, files = 0, others = 0;
  constexpr std::size_t kRoomForRest = 70;
  if (size > max) {
    std::vector<std::size_t> order(facts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return facts[a].worth < facts[b].worth; });
    for (const std::size_t i : order) {
      if (size + kRoomForRest <= max) break;
      size -= facts[i].text.size() + 1;
      ++(facts[i].of == Fact::Of::command ? commands : facts[i].of == Fact::Of::file ? files : others);
      facts[i].text.clear();
    }
  }
  std::string out;
  for (const Fact& fact : facts)
    if (!fact.text.empty()) out.append(out.empty() ? "" : " ").append(fact.text);
  const std::string rest = told_left_out(commands, files, others);
  return out + (out.empty() || rest.empty() ? "" : " ") + rest;
}

std::string request_of(std::string_view prompt) {
  std::string out;
  int count = 0;
  const std::string text = visible(prefix(prompt, 8 * kMaxRequest));
  for (const std::string_view line : lines(text)) {
    if (trim(line).empty()) continue;
    if (++count > 6) {
      out.append(" \xe2\x80\xa6");
      break;
    }
    out.append(out.empty() ? "" : "\n").append(trim(line));
  }
  return shorten(out, kMaxRequest);
}

std::string completed_of(const Turn& turn, const Digest& digest, const std::string& answer) {
  const std::string last = turn.end == Turn::End::failed ? "" : shorten(answer, kMaxAnswer);
  std::vector<Fact> facts = facts_of(digest);
  const bool open = turn.end == Turn::End::open;
  if (open)
    for (const std::string& running : digest.interrupted) facts.push_back({"Running " + running + ".", 4});
  std::string out = paragraph(std::move(facts), kMaxField - last.size() - 40);
  if (open) out = "In progress: " + (out.empty() ? "nothing done yet." : out);
  if (!last.empty()) out.append(out.empty() ? "" : "\n\n").append(last);
  return out;
}

std::string investigated_of(const Digest& digest) {
  std::vector<std::string> out;
  std::vector<std::string> files;
  for (const std::string& file : digest.read)
    if (!digest.edited.contains(file)) files.push_back(file);
  if (!files.empty()) out.push_back("Read " + join(files, 8, "file", "files") + ".");
  if (!digest.searches.empty())
    out.push_back("Searched for " + join(digest.searches, 6, "pattern", "patterns") + ".");
  std::vector<std::string> looks;
  for (const Command& command : digest.commands)
    if (command.looks && all_passed(command)) looks.push_back("'" + command.shown + "'");
  if (!looks.empty()) out.push_back("Looked with " + join(looks, 5, "command", "commands") + ".");
  if (!digest.fetches.empty()) out.push_back("Consulted " + join(digest.fetches, 5, "page", "pages") + ".");
  for (std::size_t i = 0; i < std::min<std::size_t>(digest.not_found.size(), 3); ++i)
    out.push_back(digest.not_found[i]);
  std::string text;
  for (const std::string& sentence : out) text.append(text.empty() ? "" : " ").append(sentence);
  return text;
}

// A failing command counts as open unless the same program passed a check later.
std::vector<std::string> still_failing(const Digest& digest) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < digest.commands.size(); ++i) {
    const Command& command = digest.commands[i];
    if (!ends_failing(command) || command.looks) continue;
    const bool solved =
        std::any_of(digest.commands.begin() + static_cast<std::ptrdiff_t>(i) + 1, digest.commands.end(),
                    [&](const Command& later) {
                      return later.check && later.program == command.program && !ends_failing(later);
                    });
    if (solved) continue;
    const Run& run = command.runs.back();
    const std::string& why = run.why.empty() ? run.code : run.why;
    out.push_back("'" + command.shown + "' still fails" + (why.empty() ? "." : ": " + why));
  }
  if (out.size() > 3) out.erase(out.begin(), out.end() - 3);
  return out;
}

void add_tasks(const Digest& digest, std::vector<std::string>& out) {
  std::vector<std::string> begun, open;
  for (const Task& task : digest.tasks) {
    if (task.subject.empty() || task.status == "completed" || task.status == "deleted") continue;
    (task.status == "in_progress" ? begun : open).push_back(task.subject);
  }
  if (!begun.empty()) out.push_back("Begun: " + join(begun, 6, "task", "tasks") + ".");
  if (!open.empty()) out.push_back("To do: " + join(open, 10, "task", "tasks") + ".");
}

std::string next_steps_of(const Turn& turn, const Digest& digest, const std::string& answer) {
  std::vector<std::string> out;
  if (turn.end == Turn::End::failed) {
    const std::string why = turn.failure.empty() || turn.failure == "unknown" ? answer : turn.failure;
    out.push_back("The turn ended with an error" +
                  (why.empty() ? "." : ": " + one_line(visible(why), 200) + "."));
  }
  if (turn.end == Turn::End::cut_off && digest.interrupted.empty())
    out.push_back("The turn was cut off before it ended; its request may be unfinished.");
  if (turn.end != Turn::End::open)
    for (const std::string& running : digest.interrupted)
      out.push_back(turn.end == Turn::End::stopped
                        ? "Did not finish (denied or interrupted): " + running + "."
                        : "Interrupted while running " + running + ".");
  for (std::string& failing : still_failing(digest)) out.push_back(std::move(failing));
  add_tasks(digest, out);
  if (turn.end != Turn::End::failed)
    for (std::string& sentence : remaining_work(answer)) out.push_back(std::move(sentence));
  std::string text;
  for (const std::string& line : out) text.append(text.empty() ? "" : "\n").append(line);
  return text;
}

std::string notes_of(const Turn& turn, const Digest& digest) {
  std::string out;
  if (turn.end == Turn::End::cut_off) out = "The turn was cut off.";
  if (digest.subagent_steps > 0)
    out.append(out.empty() ? "" : " ")
        .append(number(digest.subagent_steps, "step was", "steps were") + " done by subagents.");
  return out;
}

std::vector<std::string> listed(const std::set<std::string>& files) {
  std::vector<std::string> out(files.begin(), files.end());
  if (out.size() > kMaxFiles) out.resize(kMaxFiles);
  return out;
}

}  // namespace

Summary summarise(const Turn& turn) {
  const Digest facts = digest(turn);
  const std::string answer = visible(prefix(turn.last_answer, 50'000));
  std::string learned;
  if (turn.end != Turn::End::failed)
    for (const std::string& sentence : findings(answer))
      learned.append(learned.empty() ? "" : "\n").append(sentence);
  Summary summary;
  summary.request = request_of(turn.prompt);
  summary.investigated = shorten(investigated_of(facts), kMaxField);
  summary.learned = shorten(learned, kMaxField);
  summary.completed = shorten(completed_of(turn, facts, answer), kMaxField);
  summary.next_steps = shorten(next_steps_of(turn, facts, answer), kMaxField);
  summary.notes = notes_of(turn, facts);
  summary.files_read = listed(facts.read);
  summary.files_edited = listed(facts.edited);
  return summary;
}

}  // namespace cairn::distil
