// The harness itself, proven with a hook of three lines: what it reports is what the host did.
#include <gtest/gtest.h>
#include <signal.h>

#include "base/text.h"
#include "host/claude.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

class Harness : public testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = machine.start();
    ASSERT_TRUE(problem.empty()) << problem;
    const std::string hook = machine.path("hook");
    write_file(hook,
               "cat >> '" + machine.path("events") +
                   "'\n"
                   "printf '{\"hookSpecificOutput\":{\"hookEventName\":\"%s\",\"additionalContext\":\"%s was "
                   "here\"}}' $1 $1\n");
    Json hooks = Json::object();
    for (const char* event : {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"}) {
      // Only what adds context without keeping the model going.
      const bool adds = std::string_view(event) != "Stop" && std::string_view(event) != "SessionEnd";
      const std::string command =
          adds ? "sh " + hook + " " + event : "cat >> " + machine.path("events") + "; echo '{}'";
      hooks.set(event,
                Json::array({Json::object(
                    {{"hooks", Json::array({Json::object({{"type", "command"}, {"command", command}})})}})}));
    }
    write_file(machine.config_dir() + "/settings.json", Json::object({{"hooks", hooks}}).dump(2));
  }

  std::string events() const {
    std::string names;
    const std::string text = read_text(machine.path("events"));
    for (std::string_view line : lines(text))
      if (auto event = Json::parse(line); event.ok())
        names += std::string((*event)["hook_event_name"].as_string()) + " ";
    return names;
  }

  HostMachine machine;
};

TEST_F(Harness, RunsAScriptedSessionAndShowsWhatHooksAdded) {
  machine.script(
      "one",
      {call("Write", Json::object({{"file_path", machine.project() + "/a.txt"}, {"content", "alpha\n"}})),
       bash("echo beta > b.txt"), say("All done.")});
  const Session session = machine.prompt("one", "write two files");
  EXPECT_FALSE(session.failed) << session.outcome.describe();
  EXPECT_EQ(session.result, "All done.");
  EXPECT_FALSE(session.outcome.pipes_held);
  EXPECT_EQ(session.id.size(), 36u);
  EXPECT_EQ(read_text(machine.project() + "/a.txt"), "alpha\n");
  EXPECT_EQ(read_text(machine.project() + "/b.txt"), "beta\n");
  EXPECT_EQ(events(), "SessionStart UserPromptSubmit PostToolUse PostToolUse Stop SessionEnd ");
  expect_valid_answer(session);

  const auto requests = machine.requests("one");
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].session, session.id);
  EXPECT_NE(requests[0].injected().find("SessionStart was here"), std::string::npos);
  EXPECT_NE(requests[0].injected().find("UserPromptSubmit was here"), std::string::npos);
  EXPECT_EQ(requests[2].count("PostToolUse was here"), 2u);

  machine.script("two", {say("Nothing to do.")});
  machine.prompt("two", "again");
  const auto later = machine.requests("two");
  ASSERT_EQ(later.size(), 1u);
  EXPECT_TRUE(later[0].has("?? a.txt")) << "the host's own git status names the file";
  EXPECT_EQ(later[0].injected().find("a.txt"), std::string::npos);
}

TEST_F(Harness, GivesErrorsDelaysAndBrokenStreamsToTheHost) {
  Json fails = bash("true");
  fails.set("fail", Json::object({{"status", 500}, {"times", 1}}));
  Json cut = say("this will break off");
  cut.set("cut", true);
  Json slow = say("late");
  slow.set("delay_ms", 300);
  machine.script("bad", {fails, cut, slow});
  const Session session = machine.prompt("bad", "try");
  EXPECT_EQ(session.result, "late") << session.outcome.describe();

  Json refused = say("never");
  refused.set("fail", Json::object({{"status", 400}}));
  machine.script("refused", {refused});
  EXPECT_TRUE(machine.prompt("refused", "try").failed);
}

TEST_F(Harness, SeesAClearInTheTuiAsTwoSessions) {
  machine.script("tui", {say("First answer."), say("Second answer.")});
  {
    Tui tui(machine, "tui");
    tui.enter("first question");
    EXPECT_TRUE(tui.shows("First answer.")) << tui.screen();
    tui.enter("/clear");
    EXPECT_TRUE(
        wait_until([&] { return events().find("SessionEnd SessionStart") != std::string::npos; }, 10s))
        << events();
    tui.enter("second question");
    EXPECT_TRUE(tui.shows("Second answer.")) << tui.screen();
  }
  const auto requests = machine.requests("tui");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_NE(requests[0].session, requests[1].session);
}

TEST_F(Harness, EndsAHungHostWithEverythingItStarted) {
  machine.script("hang", {bash("echo started > mark; sleep 1119")});
  Background host(machine.prompt_program("hang", "work"));
  host.close_input();
  ASSERT_TRUE(wait_until([&] { return exists(machine.project() + "/mark"); }, 20s)) << host.out();
  host.signal(SIGKILL);
  ASSERT_TRUE(host.wait(5s));
  for (pid_t pid : processes_with_env("CAIRN_HOME=" + machine.cairn_home())) ::kill(pid, SIGKILL);
  EXPECT_TRUE(wait_until([] { return processes_with("sleep 1119").empty(); }, 5s));
}

}  // namespace
}  // namespace cairn::test
