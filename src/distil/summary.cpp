// Makes the summary that the next session is given, from a digest and the last answer.
#include <algorithm>

#include "base/quoted.h"
#include "base/text.h"
#include "distil/parts.h"
#include "distil/sentences.h"
#include "distil/words.h"
#include "event/origin.h"

namespace cairn::distil {

namespace {

constexpr std::size_t kMaxAnswer = 700;
constexpr std::size_t kMaxDone = 1000;  // bytes for actions when there is an answer

struct Fact {
  enum class Of { file, command, other };
  std::string text;
  int worth = 0;  // facts with the lowest value are left out first
  Of of = Of::other;
};

// A command that only showed something is in `investigated`; one that only commits is in the list of commits.
void add_commands(const Digest& digest, std::vector<Fact>& facts) {
  for (const Command& command : digest.commands) {
    const bool failing = ends_failing(command);
    const bool quiet = all_passed(command) && (command.looks || command.only_commits);
    if (!quiet) facts.push_back({described(command), failing ? 4 : command.check ? 3 : 1, Fact::Of::command});
  }
  std::vector<std::string> commits;
  for (const Command& command : digest.commands)
    for (const Commit& commit : command.commits) commits.push_back(commit.text);
  if (!commits.empty()) facts.push_back({"Committed " + join(commits, 4, "commit", "commits") + ".", 5});
}

void add_other_tools(const Digest& digest, std::vector<Fact>& facts) {
  std::vector<std::string> counted;
  for (const auto& [name, count] : digest.other_tools) counted.push_back(name + times(count));
  if (!counted.empty()) facts.push_back({"Used " + join(counted, 6, "tool", "tools") + ".", 0});
}

std::vector<Fact> facts_of(const Digest& digest) {
  std::vector<Fact> facts;
  for (const FileChange& file : digest.files) facts.push_back({described(file), 3, Fact::Of::file});
  for (const std::string& failure : digest.failures) facts.push_back({failure, 2});
  add_commands(digest, facts);
  for (const std::string& agent : digest.agents) facts.push_back({agent, 4});
  add_other_tools(digest, facts);
  std::vector<std::string> done;
  for (const Task& task : digest.tasks)
    if (task.state == host::TaskChange::State::completed) done.push_back(task.subject);
  if (!done.empty()) facts.push_back({"Finished: " + join(done, 6, "task", "tasks") + ".", 2});
  return facts;
}

// "And 10 more commands and 2 more files."
std::string left_out_text(std::int64_t commands, std::int64_t files, std::int64_t others) {
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
  // For the sentence about what was left out.
  constexpr std::size_t kRoomForRest = 70;
  if (size > max) {
    std::vector<std::size_t> order(facts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    // Leaves out the facts of least worth, of equal worth the first ones. The others keep their order.
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
  const std::string rest = left_out_text(commands, files, others);
  return out + (out.empty() || rest.empty() ? "" : " ") + rest;
}

std::string completed_of(const Turn& turn, const Digest& digest, const std::string& answer) {
  const std::string last = turn.end == Turn::End::failed ? "" : shorten(answer, kMaxAnswer);
  std::vector<Fact> facts = facts_of(digest);
  const bool open = turn.end == Turn::End::open;
  if (open)
    for (const std::string& running : digest.interrupted) facts.push_back({"Running " + running + ".", 4});
  // The assistant's answer says more than a long list of commands.
  std::string out = paragraph(std::move(facts), last.empty() ? kMaxField - 40 : kMaxDone);
  if (open) out = "In progress: " + (out.empty() ? "nothing done yet." : out);
  if (!last.empty()) out.append(out.empty() ? "" : "\n\n").append(last);
  return out;
}

std::string failing_text(const Command& command) {
  const CommandRun& run = command.runs.back();
  const std::string why = run.why.empty() ? run.code : quote(Origin::output, run.why);
  return quoted(command.shown) + " still fails" + (why.empty() ? "." : ": " + why);
}

void add_tasks(const Digest& digest, std::vector<std::string>& out) {
  using State = host::TaskChange::State;
  std::vector<std::string> begun, open;
  for (const Task& task : digest.tasks) {
    if (task.subject.empty() || task.state == State::completed || task.state == State::deleted) continue;
    (task.state == State::in_progress ? begun : open).push_back(task.subject);
  }
  if (!begun.empty()) out.push_back("Begun: " + join(begun, 6, "task", "tasks") + ".");
  if (!open.empty()) out.push_back("To do: " + join(open, 10, "task", "tasks") + ".");
}

std::string next_steps_of(const Turn& turn, const Digest& digest, const std::string& answer,
                          const Mode& mode) {
  std::vector<std::string> out;
  if (turn.end == Turn::End::failed) {
    const std::string why = turn.failure.empty() || turn.failure == "unknown" ? answer : turn.failure;
    out.push_back("The turn ended with an error" +
                  (why.empty() ? "." : ": " + one_line(visible(why), 200) + "."));
  }
  // With an interrupted call, the sentence about that call says it better.
  if (turn.end == Turn::End::cut_off && digest.interrupted.empty())
    out.push_back("The turn was cut off before it ended; its request may be unfinished.");
  if (turn.end != Turn::End::open)
    for (const std::string& running : digest.interrupted)
      out.push_back(turn.end == Turn::End::stopped
                        ? "Did not finish (denied or interrupted): " + running + "."
                        : "Interrupted while running " + running + ".");
  for (const Command* failing : still_failing(digest)) out.push_back(failing_text(*failing));
  add_tasks(digest, out);
  if (turn.end != Turn::End::failed)
    for (std::string& sentence : remaining_work(answer, mode)) out.push_back(std::move(sentence));
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

}  // namespace

Summary summarise(const Turn& turn, const Digest& facts, const std::string& answer, const Mode& mode) {
  std::string learned;
  if (turn.end != Turn::End::failed)
    for (const Statement& statement : statements(answer, mode))
      learned.append(learned.empty() ? "" : "\n").append(statement.text);
  Summary summary;
  summary.request = request_of(turn.prompt);
  summary.investigated = shorten(looks_text(facts), kMaxField);
  summary.learned = shorten(learned, kMaxField);
  summary.completed = shorten(completed_of(turn, facts, answer), kMaxField);
  summary.next_steps = shorten(next_steps_of(turn, facts, answer, mode), kMaxField);
  summary.notes = notes_of(turn, facts);
  summary.files_read = listed(facts.read);
  summary.files_edited = listed(facts.edited);
  return summary;
}

}  // namespace cairn::distil
