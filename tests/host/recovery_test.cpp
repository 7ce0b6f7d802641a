// What hooks could not deliver, because the host died, the inbox could not be written or the user stopped a
// tool, comes from the host's own transcript; what the user kept from us does not.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "base/text.h"
#include "host/claude.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

class Recovery : public HostTest {
 protected:
  struct Given {
    std::string context;  // to the model
    std::string notice;   // to the user
  };
  Given next_session() {
    machine.script("next", {say("I see.")});
    const Session session = machine.prompt("next", "What now?");
    expect_valid_answer(session);
    Given given;
    for (const HookReply& hook : session.hooks)
      if (hook.event == "SessionStart")
        given.notice = Json::parse(hook.out).value_or(Json())["systemMessage"].as_string();
    if (const auto requests = machine.requests("next"); !requests.empty())
      given.context = requests[0].injected();
    return given;
  }
  Json ledger() { return machine.cairn_json({"status"})["ledger"]; }

  // Runs the script's turns and kills the host inside the tool that makes `running.mark`.
  void kill_inside_a_tool(std::string_view script, std::string_view command) {
    Background host(machine.prompt_program(script, "run the long migration"));
    host.close_input();
    ASSERT_TRUE(wait_until([&] { return exists(machine.project() + "/running.mark"); }, 30s)) << host.err();
    host.signal(SIGKILL);
    ASSERT_TRUE(host.wait(5s));
    end_commands_with(command);
  }
  void end_commands_with(std::string_view text) {
    const std::vector<pid_t> ours = processes_with_env("CAIRN_HOME=" + machine.cairn_home());
    for (pid_t pid : processes_with(text))
      if (std::find(ours.begin(), ours.end(), pid) != ours.end()) ::kill(pid, SIGKILL);
  }
  static bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
  }
};

TEST_F(Recovery, TheLedgerOfAHostKilledInsideAToolIsClosedAtTheNextStartAndTheUserIsInformed) {
  machine.script("killed",
                 {bash("echo begun > begun.txt"), bash("touch running.mark; sleep 1130"), say("Never.")});
  kill_inside_a_tool("killed", "sleep 1130");
  const Given given = next_session();
  EXPECT_EQ(ledger()["gap"].as_int(), 0) << ledger().dump();
  EXPECT_TRUE(has(given.notice, "run the long migration")) << given.notice;
  EXPECT_TRUE(has(given.notice, "interrupted")) << given.notice;
  EXPECT_TRUE(has(given.context, "begun.txt")) << given.context;
  EXPECT_TRUE(has(given.context, "sleep 1130")) << given.context;
}

TEST_F(Recovery, EventsThatHooksCouldNotWriteAreRecoveredFromTheTranscript) {
  const std::string inbox = machine.cairn_home() + "/inbox";
  machine.script(
      "blocked",
      {bash("echo one > one.txt"),
       bash("mv " + inbox + "/tmp " + inbox + "/away && touch " + inbox + "/tmp; echo two > two.txt"),
       bash("echo three > three.txt"),
       bash("rm " + inbox + "/tmp && mv " + inbox + "/away " + inbox + "/tmp; echo four > four.txt"),
       say("All four are there.")});
  const Session session = machine.prompt("blocked", "write four files");
  EXPECT_EQ(session.result, "All four are there.") << session.outcome.describe();
  expect_valid_answer(session);
  const Given given = next_session();
  for (const char* file : {"one.txt", "two.txt", "three.txt", "four.txt"})
    EXPECT_TRUE(has(given.context, file)) << file << " in " << given.context;
  EXPECT_GE(ledger()["recovered"].as_int(), 1) << ledger().dump();
  EXPECT_EQ(ledger()["gap"].as_int(), 0) << ledger().dump();
}

TEST_F(Recovery, NothingIsTakenFromTheTimeWhenCaptureWasOff) {
  const std::string set = std::string(CAIRN_BIN_DIR) + "/cairn config set capture.enabled ";
  machine.script("paused", {bash("echo one > one.txt"), bash(set + "false"), bash("echo two > hidden.txt"),
                            bash(set + "true"), bash("echo three > three.txt"), say("Done.")});
  const Session session = machine.prompt("paused", "write three files");
  EXPECT_EQ(session.result, "Done.") << session.outcome.describe();
  const Given given = next_session();
  EXPECT_TRUE(has(given.context, "one.txt")) << given.context;
  EXPECT_TRUE(has(given.context, "three.txt")) << given.context;
  EXPECT_FALSE(has(given.context, "hidden.txt")) << given.context;
  EXPECT_EQ(ledger()["gap"].as_int(), 0) << ledger().dump();
  EXPECT_FALSE(has(machine.cairn_json({"sessions", "show", session.id, "--events"}).dump(), "hidden.txt"));
}

TEST_F(Recovery, TheLedgerIsClosedAfterAToolWasStoppedWithEscape) {
  machine.script("tui", {bash("touch running.mark; sleep 1131"), say("Hello.")});
  {
    Tui tui(machine, "tui");
    tui.enter("start the endless job");
    ASSERT_TRUE(wait_until([&] { return exists(machine.project() + "/running.mark"); }, 20s)) << tui.screen();
    tui.key("Escape");
    EXPECT_TRUE(tui.shows("Interrupted")) << tui.screen();
  }
  end_commands_with("sleep 1131");
  const Given given = next_session();
  EXPECT_EQ(ledger()["gap"].as_int(), 0) << ledger().dump();
  EXPECT_TRUE(has(given.context, "start the endless job")) << given.context;
  EXPECT_TRUE(has(ascii_lower(given.context), "interrupted")) << given.context;
}

}  // namespace
}  // namespace cairn::test
