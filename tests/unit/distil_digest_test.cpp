// What a turn's digest contains, and which program it names as failed.
#include <gtest/gtest.h>

#include "distil/reader.h"
#include "unit/distil_steps.h"

namespace cairn::distil {
namespace {

std::size_t bytes_of(const std::vector<std::string>& list) {
  std::size_t sum = 0;
  for (const std::string& text : list) sum += text.size();
  return sum;
}

// Roughly what a digest occupies.
std::size_t bytes_of(const Digest& d) {
  std::size_t sum = 0;
  for (const FileChange& file : d.files)
    sum += file.path.size() + file.marks.size() * sizeof(Mark) + bytes_of(file.symbols);
  for (const Command& command : d.commands) {
    sum += command.shown.size() + command.purpose.size() + command.key.size();
    for (const CommandRun& run : command.runs)
      sum += sizeof(CommandRun) + run.why.size() + bytes_of(run.failed);
    for (const Commit& commit : command.commits) sum += commit.whole.size() + commit.text.size();
  }
  for (const auto* list : {&d.agents, &d.failures, &d.searches, &d.fetches, &d.not_found, &d.interrupted})
    sum += bytes_of(*list);
  for (const auto* names : {&d.read, &d.edited})
    for (const std::string& name : *names) sum += name.size();
  for (const auto* marks : {&d.looked, &d.outside, &d.delegated, &d.shell_changes})
    sum += marks->size() * sizeof(Mark);
  for (const Task& task : d.tasks) sum += task.subject.size();
  for (const Pull& pull : d.pulls) sum += pull.text.size();
  for (const auto& [name, count] : d.other_tools) sum += name.size();
  return sum;
}

// A turn that never does the same twice.
Step any_step(int i) {
  const std::string n = std::to_string(i);
  switch (i % 9) {
    case 0: return failed(bash("make target" + n), "Exit code 2\nerror: target" + n + " is broken");
    case 1: return edit("/p/src/file" + n + ".cpp", Json::array({"+int f" + n + "() {"}));
    case 2: return step("Read", Json::object({{"file_path", "/p/doc/" + n + ".md"}}));
    case 3: return step("Grep", Json::object({{"pattern", "word" + n}}));
    case 4: return bash("git commit -m 'change " + n + "'", "[main 1a2b" + n + "] change " + n);
    case 5: return step("mcp__store__tool" + n, Json::object({}));
    case 6: return failed(step("WebFetch", Json::object({{"url", "https://example.org/" + n}})), "no route");
    case 7:
      return step("TaskCreate", Json::object({{"subject", "task " + n}}),
                  Json::object({{"task", Json::object({{"id", n}})}}));
    default: return interrupted(bash("sleep " + n));
  }
}

TEST(Digest, IsBoundedHoweverManyEventsATurnHas) {
  TurnReader reader("claude-code", "/p");
  std::size_t at_half = 0;
  for (int i = 0; i < 20'000; ++i) {
    Step step = any_step(i);
    step.event = i + 1;
    reader.add(step);
    if (i == 10'000) at_half = bytes_of(reader.digest());
  }
  const std::size_t at_end = bytes_of(reader.digest());
  EXPECT_LT(at_end, 1'000'000u);
  EXPECT_LT(at_end, at_half * 5 / 4) << "it grows with the events: " << at_half << " then";

  Turn turn;
  turn.prompt = "do everything";
  turn.last_answer = "Done.";
  turn.end = Turn::End::stopped;
  const Distilled distilled = reader.distil(turn, code_mode());
  EXPECT_NE(distilled.summary.next_steps.find("make target19998"), std::string::npos)
      << "the newest stays: " << distilled.summary.next_steps;
  const LeftOpen left = reader.left_open(turn, code_mode());
  EXPECT_LE(left.done.tasks.size(), 400u);
  EXPECT_LE(left.done.files.size(), 2000u);
}

TEST(Digest, ARunIsFoundAgainAfterCommandsWereLeftOut) {
  TurnReader reader("claude-code", "/p");
  reader.add(failed(bash("npm test"), "Exit code 1\nFAIL a.test.ts"));
  for (int i = 0; i < 2000; ++i) reader.add(bash("echo " + std::to_string(i) + " > out"));
  reader.add(bash("npm test", "Tests: 3 passed, 3 total"));
  const std::vector<Command>& commands = reader.digest().commands;
  ASSERT_EQ(commands.front().shown, "npm test");
  EXPECT_EQ(commands.front().runs.size(), 2u);
}

Distilled after(std::vector<Step> steps) {
  Turn turn;
  turn.host = "claude-code";
  turn.prompt = "look after it";
  turn.steps = std::move(steps);
  turn.last_answer = "I did what I could.";
  turn.end = Turn::End::stopped;
  return distil(turn);
}

TEST(Digest, ACallThatTheUserOrTheHostRefusedIsNotAFailure) {
  for (const char* error : {"The user doesn't want to proceed with this tool use. The tool use was rejected.",
                            "Permission to use Bash with command rm -rf build has been denied.",
                            "Sibling tool call errored", "PreToolUse:Bash hook error: [guard]: not today",
                            "Error: File has not been read yet. Read it first."}) {
    const Distilled distilled = after({failed(bash("rm -rf build"), error),
                                       failed(step("Edit", Json::object({{"file_path", "a.cpp"}})), error)});
    EXPECT_TRUE(distilled.observations.empty()) << error;
    EXPECT_EQ(distilled.summary.next_steps, "") << error;
    EXPECT_EQ(distilled.summary.completed, "I did what I could.") << error;
  }
}

TEST(Digest, AFailureIsBlamedOnTheProgramThatFailed) {
  const Distilled early = after({failed(bash("mkdir out && make test"),
                                        "Exit code 1\nmkdir: cannot create directory 'out': File exists"),
                                 bash("make test", "12 tests passed")});
  EXPECT_EQ(early.summary.next_steps.find("'make test' still fails"), std::string::npos)
      << early.summary.next_steps;
  for (const Observation& o : early.observations)
    EXPECT_EQ(o.title.find("'make test' failed"), std::string::npos) << o.title;
  const Distilled missing =
      after({failed(bash("export A=1 && tool --fast"), "Exit code 127\nsh: 1: tool: command not found"),
             bash("export A=2")});
  for (const Observation& o : missing.observations)
    EXPECT_EQ(o.title.find("works where"), std::string::npos) << o.title;
}

TEST(Digest, ALineHasNotFailedBecauseItsFilterFoundNothing) {
  const Distilled nothing = after({failed(bash("./generate --all | grep warning"), "Exit code 1")});
  EXPECT_EQ(nothing.summary.next_steps, "");
  EXPECT_TRUE(nothing.observations.empty());
  const Distilled error = after({failed(bash("./generate --all && ls out"), "Exit code 1\nno input")});
  EXPECT_NE(error.summary.next_steps.find("still fails"), std::string::npos);
}

}  // namespace
}  // namespace cairn::distil
