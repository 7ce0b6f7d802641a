// Open items with the real host: tasks over turns and sessions, next steps that live until they are done,
// plans, a refused permission.
#include <gtest/gtest.h>

#include "host/claude.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

class Open : public HostTest {
 protected:
  Session play(const std::string& script, std::string_view prompt, Json::Array turns,
               std::vector<std::string> flags = {}) {
    machine.script(script, std::move(turns));
    Session session = machine.prompt(script, prompt, std::move(flags));
    EXPECT_FALSE(session.failed) << session.outcome.describe();
    expect_valid_answer(session);
    return session;
  }
  // The section "# Open" that a session was given with its first request; empty: it had none.
  std::string open_given(const std::string& script) {
    const auto requests = machine.requests(script);
    if (requests.empty()) return "no request";
    const std::string text = requests[0].injected();
    const std::size_t from = text.find("# Open\n");
    return from == std::string::npos ? "" : text.substr(from, text.find("\n\n", from) - from);
  }
  static Json task(std::string_view subject) {
    return call("TaskCreate", Json::object({{"subject", subject}, {"description", subject}}));
  }
  static Json task_is(std::string_view id, std::string_view status) {
    return call("TaskUpdate", Json::object({{"taskId", id}, {"status", status}}));
  }
  Json write(const std::string& file) const {
    return call("Write", Json::object({{"file_path", machine.project() + "/" + file}, {"content", "x\n"}}));
  }
};

TEST_F(Open, ThreeTasksOverTwoTurnsLeaveTheOneThatIsNotDone) {
  const Session first =
      play("one", "do three things",
           {task("Write the parser"), task("Write the printer"), task("Update the changelog"),
            task_is("1", "completed"), say("The parser is written.")});
  play("two", "go on", {task_is("2", "completed"), say("The printer is written.")}, {"--resume", first.id});
  play("three", "what now?", {say("I see.")});
  const std::string open = open_given("three");
  EXPECT_NE(open.find("task: Update the changelog"), std::string::npos) << open;
  EXPECT_EQ(open.find("parser"), std::string::npos) << open;
  EXPECT_EQ(open.find("printer"), std::string::npos) << open;
}

TEST_F(Open, ANextStepStaysThroughOtherSessionsAndGoesWhenItIsDone) {
  play("one", "fix the lexer", {write("lexer.cpp"), say("Fixed.\n\nNext: add a retry to the uploader.")});
  play("two", "rename the printer", {write("printer.cpp"), say("Renamed the printer.")});
  play("three", "what is the limit?", {say("The limit is ten.")});
  play("four", "do what is open", {write("uploader.cpp"), say("Added a retry to the uploader.")});
  EXPECT_NE(open_given("four").find("add a retry to the uploader."), std::string::npos) << open_given("four");
  play("five", "what now?", {say("I see.")});
  EXPECT_EQ(open_given("five").find("retry"), std::string::npos) << open_given("five");
}

// The TUI in plan mode, up to the dialogue that asks about the plan. The host names the file it is written
// to.
class Plan : public Open {
 protected:
  static Json::Array planned(Json::Array then) {
    Json::Array turns{call("Write", Json::object({{"file_path", "{{/\\S+/plans/[\\w-]+\\.md}}"},
                                                  {"content",
                                                   "# Plan: Retry uploads\n\n1. Add a retry to "
                                                   "`uploader.cpp`\n2. Test it in "
                                                   "`uploader_test.cpp`\n3. Say it in "
                                                   "`CHANGES.md`\n"}})),
                      call("ExitPlanMode", Json::object({}))};
    for (Json& turn : then) turns.push_back(std::move(turn));
    return turns;
  }
  std::unique_ptr<Tui> propose(Json::Array then) {
    machine.script("tui", planned(std::move(then)));
    auto tui = std::make_unique<Tui>(
        machine, "tui", std::vector<std::string>{"--permission-mode", "plan", "--allowedTools=Write"});
    tui->enter("plan how to retry uploads");
    EXPECT_TRUE(tui->shows("Would you like to proceed?")) << tui->screen();
    return tui;
  }
};

TEST_F(Plan, AcceptedItIsGivenWithWhatIsNotBegun) {
  auto tui = propose({write("uploader.cpp"), say("Uploads are retried.")});
  tui->key("2");
  EXPECT_TRUE(tui->shows("Uploads are retried.")) << tui->screen();
  tui.reset();
  play("next", "what now?", {say("I see.")});
  EXPECT_NE(
      open_given("next").find("plan \"Retry uploads\", accepted and not finished; not begun: 2. Test it in "
                              "`uploader_test.cpp`; 3. Say it in `CHANGES.md`"),
      std::string::npos)
      << open_given("next");
}

TEST_F(Plan, RejectedItIsNamedAndNothingOfItIsOpen) {
  auto tui = propose({say("It is called the uploader.")});
  tui->key("Escape");
  EXPECT_TRUE(tui->shows("rejected")) << tui->screen();
  tui->enter("what is it called?");
  EXPECT_TRUE(tui->shows("It is called the uploader.")) << tui->screen();
  tui.reset();
  play("next", "what now?", {say("I see.")});
  const auto requests = machine.requests("next");
  ASSERT_FALSE(requests.empty());
  EXPECT_NE(requests[0].injected().find("The plan \"Retry uploads\" was "), std::string::npos)
      << requests[0].injected();
  EXPECT_EQ(open_given("next"), "");
}

TEST_F(Open, ARefusedPermissionLeavesNoLessonAndNothingOpen) {
  play("one", "remove the mark", {bash("rm -f done.mark"), say("I may not remove it, so I left it.")},
       {"--disallowedTools=Bash(rm:*)"});
  play("two", "what now?", {say("I see.")});
  EXPECT_EQ(open_given("two"), "");
  machine.process_and_check();
  EXPECT_TRUE(machine.cairn_json({"open"})["items"].items().empty());
}

}  // namespace
}  // namespace cairn::test
