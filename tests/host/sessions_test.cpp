// Sessions as people have them: with subagents, in worktrees, side by side, broken off.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "base/text.h"
#include "host/claude.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

class Sessions : public HostTest {
 protected:
  // What a fresh session in the project's main checkout is given.
  std::string next_session_is_given(std::string_view script = "next") {
    machine.script(script, {say("I see.")});
    const Session session = machine.prompt(script, "What now?");
    EXPECT_EQ(session.result, "I see.") << session.outcome.describe();
    expect_valid_answer(session);
    const auto requests = machine.requests(script);
    return requests.empty() ? "" : requests[0].injected();
  }

  // Ends what an interrupted host left: the command its tool was running.
  void end_commands_with(std::string_view text) {
    const std::vector<pid_t> ours = processes_with_env("CAIRN_HOME=" + machine.cairn_home());
    for (pid_t pid : processes_with(text))
      if (std::find(ours.begin(), ours.end(), pid) != ours.end()) ::kill(pid, SIGKILL);
  }
};

TEST_F(Sessions, ASubagentsWorkIsGivenToTheNextSession) {
  machine.script(
      "main",
      {call("Agent", Json::object({{"description", "find the answer"},
                                   {"prompt", "SUBTASK: find the answer and write it down"},
                                   {"subagent_type", "general-purpose"}})),
       say("The subagent has found it.")},
      {Json::object(
          {{"first", "SUBTASK: find"},
           {"turns", Json::array({bash("echo 42 > answer.txt"), say("The answer is forty-two.")})}})});
  const Session session = machine.prompt("main", "let a subagent find the answer");
  EXPECT_EQ(session.result, "The subagent has found it.") << session.outcome.describe();
  expect_valid_answer(session);
  EXPECT_EQ(read_text(machine.project() + "/answer.txt"), "42\n");

  const std::string context = next_session_is_given();
  EXPECT_TRUE(context.find("answer.txt") != std::string::npos ||
              context.find("The answer is forty-two.") != std::string::npos)
      << context;
  const Json shown = machine.cairn_json({"sessions", "show", session.id, "--events"});
  EXPECT_NE(shown.dump().find("general-purpose"), std::string::npos) << shown.dump(1);
}

TEST_F(Sessions, AWorktreeIsTheSameProject) {
  const std::string worktree = machine.path("code/proj-feature");
  ASSERT_TRUE(machine.run_here({"git", "worktree", "add", "-q", worktree, "-b", "feature"}).ok());
  machine.script("here", {bash("echo 1 > main_side.txt"), say("Done in main.")});
  machine.script("there", {bash("echo 2 > feature_side.txt"), say("Done in the worktree.")});
  const Session here = machine.prompt("here", "work in the main checkout");
  const Session there = machine.prompt("there", "work in the worktree", {}, worktree);
  EXPECT_TRUE(exists(worktree + "/feature_side.txt"));

  const auto requests = machine.requests("there");
  ASSERT_FALSE(requests.empty());
  EXPECT_NE(requests[0].injected().find("Done in main."), std::string::npos) << requests[0].injected();
  const std::string context = next_session_is_given();
  EXPECT_NE(context.find("Done in the worktree."), std::string::npos) << context;

  const Json main_row = machine.session_row(here.id);
  const Json worktree_row = machine.session_row(there.id);
  ASSERT_FALSE(main_row["project"].as_string().empty()) << main_row.dump();
  EXPECT_EQ(main_row["project"].as_string(), worktree_row["project"].as_string());
}

TEST_F(Sessions, TwoAtOnceInOneProjectAreKeptApart) {
  Json slow = bash("echo a > left.txt");
  slow.set("delay_ms", 700);
  machine.script("left", {slow, bash("echo b >> left.txt"), say("Left is done.")});
  machine.script("right",
                 {bash("echo a > right.txt"), slow, bash("echo b >> right.txt"), say("Right is done.")});
  Background left(machine.prompt_program("left", "take the left way"));
  Background right(machine.prompt_program("right", "take the right way"));
  left.close_input();
  right.close_input();
  const auto left_outcome = left.wait(60s);
  const auto right_outcome = right.wait(60s);
  ASSERT_TRUE(left_outcome && right_outcome);
  const Session one = HostMachine::read_session(*left_outcome);
  const Session two = HostMachine::read_session(*right_outcome);
  EXPECT_EQ(one.result, "Left is done.") << one.outcome.describe();
  EXPECT_EQ(two.result, "Right is done.") << two.outcome.describe();
  expect_valid_answer(one);
  expect_valid_answer(two);
  EXPECT_EQ(machine.daemons().size(), 1u);

  machine.process_and_check();
  ASSERT_NE(one.id, two.id);
  const std::string shown_one = machine.cairn_json({"sessions", "show", one.id, "--events"}).dump();
  const std::string shown_two = machine.cairn_json({"sessions", "show", two.id, "--events"}).dump();
  EXPECT_NE(shown_one.find("take the left way"), std::string::npos) << shown_one;
  EXPECT_EQ(shown_one.find("take the right way"), std::string::npos) << shown_one;
  EXPECT_NE(shown_two.find("take the right way"), std::string::npos) << shown_two;
  EXPECT_EQ(machine.session_row(one.id)["status"].as_string(), "completed");
  EXPECT_EQ(machine.session_row(two.id)["status"].as_string(), "completed");
  const std::string context = next_session_is_given();
  EXPECT_NE(context.find("take the left way"), std::string::npos) << context;
  EXPECT_NE(context.find("take the right way"), std::string::npos) << context;
}

TEST_F(Sessions, AHostKilledInsideAToolIsReportedAsInterrupted) {
  machine.script(
      "killed", {bash("echo begun > begun.txt"), bash("touch running.mark; sleep 1120"), say("Never said.")});
  std::string id;
  {
    Background host(machine.prompt_program("killed", "run the long migration"));
    host.close_input();
    ASSERT_TRUE(wait_until([&] { return exists(machine.project() + "/running.mark"); }, 30s)) << host.err();
    host.signal(SIGKILL);
    const auto end = host.wait(5s);
    ASSERT_TRUE(end);
    id = HostMachine::read_session(*end).id;
  }
  end_commands_with("sleep 1120");
  const std::string context = next_session_is_given();
  EXPECT_NE(context.find("run the long migration"), std::string::npos) << context;
  EXPECT_NE(ascii_lower(context).find("interrupted"), std::string::npos) << context;
  EXPECT_NE(context.find("sleep 1120"), std::string::npos) << context;
  machine.process_and_check();
  EXPECT_EQ(machine.session_row(id)["status"].as_string(), "failed") << machine.session_row(id).dump();
}

TEST_F(Sessions, AToolStoppedWithEscapeIsReportedAtTheNextPrompt) {
  machine.script("tui", {bash("touch running.mark; sleep 1121"), say("Hello.")});
  Tui tui(machine, "tui");
  tui.enter("start the endless job");
  ASSERT_TRUE(wait_until([&] { return exists(machine.project() + "/running.mark"); }, 20s)) << tui.screen();
  tui.key("Escape");
  EXPECT_TRUE(tui.shows("Interrupted")) << tui.screen();
  // The host says nothing of an Escape: the turn is still open, and known as such.
  const std::string open = next_session_is_given("while_open");
  EXPECT_NE(open.find("start the endless job"), std::string::npos) << open;

  tui.enter("never mind, say hello");
  EXPECT_TRUE(tui.shows("Hello.")) << tui.screen();
  const std::string closed = next_session_is_given("after_it");
  // What was interrupted goes with the next finished turn; its summary keeps it.
  EXPECT_NE(closed.find("never mind, say hello"), std::string::npos) << closed;
  const Json shown = machine.cairn_json({"sessions", "show", machine.requests("tui")[0].session});
  ASSERT_EQ(shown["turns"].items().size(), 2u) << shown.dump(1);
  const std::string summary(shown["turns"].items()[0]["summary"].as_string());
  const std::string record_text = machine.cairn_json({"show", summary}).dump();
  EXPECT_NE(record_text.find("sleep 1121"), std::string::npos) << record_text;
  EXPECT_NE(ascii_lower(record_text).find("interrupted"), std::string::npos) << record_text;
  end_commands_with("sleep 1121");
}

}  // namespace
}  // namespace cairn::test
