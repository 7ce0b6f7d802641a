// The cycle: a session ends, and the next session of that project is given what it did. With hooks alone: no
// cairn command runs between the two.
#include <gtest/gtest.h>

#include "host/claude.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRequest = "Please repair the flux capacitor lexer";

class Cycle : public HostTest {
 protected:
  // A session that writes, reads and edits files, writes one by the shell, and sees a check fail and then
  // pass.
  Session work() {
    const std::string at = machine.project() + "/";
    machine.script(
        "work",
        {call("Write",
              Json::object({{"file_path", at + "src/lexer.cpp"}, {"content", "int lex() { return 1; }\n"}}),
              "I start with the lexer."),
         call("Read", Json::object({{"file_path", at + "README.md"}})),
         call("Edit", Json::object({{"file_path", at + "README.md"},
                                    {"old_string", "# A project"},
                                    {"new_string", "# A project with a lexer"}})),
         bash("echo buy milk > notes.txt"), bash("test -f done.mark && sh -c 'echo all tests passed'"),
         bash("touch done.mark"), bash("test -f done.mark && sh -c 'echo all tests passed'"),
         say("The lexer is repaired and the tests pass.")});
    Session session = machine.prompt("work", kRequest);
    EXPECT_EQ(session.result, "The lexer is repaired and the tests pass.") << session.outcome.describe();
    expect_valid_answer(session);
    return session;
  }

  // What the model of a fresh session is given by hooks with its first request.
  std::string next_session_is_given() {
    machine.script("next", {say("I see.")});
    const Session session = machine.prompt("next", "What now?");
    EXPECT_EQ(session.result, "I see.") << session.outcome.describe();
    expect_valid_answer(session);
    const auto requests = machine.requests("next");
    return requests.empty() ? "" : requests[0].injected();
  }

  void expect_the_work(const std::string& context) {
    for (std::string_view part : {kRequest, std::string_view("src/lexer.cpp"), std::string_view("README.md"),
                                  std::string_view("notes.txt"), std::string_view("test -f done.mark"),
                                  std::string_view("The lexer is repaired")})
      EXPECT_NE(context.find(part), std::string::npos) << part << " is missing in: " << context;
  }
};

TEST_F(Cycle, TheNextSessionIsGivenWhatTheLastOneDid) {
  work();
  expect_the_work(next_session_is_given());
}

TEST_F(Cycle, TheNextSessionIsGivenItEvenIfTheDaemonWasKilledBetween) {
  work();
  machine.kill_daemon();
  expect_the_work(next_session_is_given());
}

TEST_F(Cycle, AFirstSessionIsGivenNothingOfOtherProjects) {
  work();
  const std::string other = machine.path("code/other");
  write_file(other + "/main.c", "int main(void) { return 0; }\n");
  machine.script("other", {say("Hello.")});
  const Session session = machine.prompt("other", "What is here?", {}, other);
  expect_valid_answer(session);
  const auto requests = machine.requests("other");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].injected().find("lexer"), std::string::npos) << requests[0].injected();
}

TEST_F(Cycle, ClearGivesTheNewSessionTheSummaryOfTheOldOne) {
  machine.script("tui",
                 {bash("echo buy milk > notes.txt"), say("The note is written."), say("Yes, I know.")});
  {
    Tui tui(machine, "tui");
    tui.enter("write down the milk");
    EXPECT_TRUE(tui.shows("The note is written.")) << tui.screen();
    tui.enter("/clear");
    EXPECT_TRUE(
        wait_until([&] { return tui.screen().find("The note is written.") == std::string::npos; }, 10s))
        << tui.screen();
    tui.enter("do you know of a note?");
    EXPECT_TRUE(tui.shows("Yes, I know.")) << tui.screen();
  }
  const auto requests = machine.requests("tui");
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_NE(requests[0].session, requests[2].session);
  const std::string context = requests[2].injected();
  EXPECT_NE(context.find("write down the milk"), std::string::npos) << context;
  EXPECT_NE(context.find("notes.txt"), std::string::npos) << context;
}

TEST_F(Cycle, ACompactedSessionIsGivenItAgain) {
  work();
  machine.script(
      "tui", {say("First answer."), say("Second answer."), say("Third answer.")},
      {Json::object(
          {{"last", "CRITICAL: Respond with TEXT ONLY"},
           {"turns", Json::array({say("<analysis>a</analysis>\n<summary>SHORT STORY</summary>")})}})});
  {
    Tui tui(machine, "tui");
    tui.enter("first question");
    EXPECT_TRUE(tui.shows("First answer.")) << tui.screen();
    tui.enter("second question");
    EXPECT_TRUE(tui.shows("Second answer.")) << tui.screen();
    tui.enter("/compact");
    EXPECT_TRUE(tui.shows("Compacted")) << tui.screen();
    tui.enter("third question");
    EXPECT_TRUE(tui.shows("Third answer.")) << tui.screen();
  }
  const auto requests = machine.requests("tui");
  ASSERT_EQ(requests.size(), 4u);
  // The host makes what PreCompact prints a part of its instructions for the compaction.
  ASSERT_TRUE(requests[2].has("CRITICAL: Respond with TEXT ONLY")) << requests[2].text;
  EXPECT_FALSE(requests[2].has("suppressOutput")) << requests[2].text;
  EXPECT_TRUE(requests[3].has("SHORT STORY"));
  const std::string given = requests[0].injected();
  ASSERT_NE(given.find(kRequest), std::string::npos) << given;
  EXPECT_NE(requests[3].injected().find(kRequest), std::string::npos) << requests[3].injected();
  EXPECT_EQ(requests[3].count(kRequest), requests[0].count(kRequest))
      << "once, not beside what the compaction kept";
}

TEST_F(Cycle, AResumedSessionIsNotGivenTheSameTwice) {
  work();
  machine.script("next", {say("I see."), say("Still here.")});
  const Session first = machine.prompt("next", "What now?");
  const Session again = machine.prompt("next", "And now?", {"--resume", first.id});
  EXPECT_EQ(again.id, first.id);
  expect_valid_answer(again);
  const auto requests = machine.requests("next");
  ASSERT_EQ(requests.size(), 2u);
  ASSERT_TRUE(requests[1].has("What now?")) << "the resumed session has its history";
  const std::string given = requests[0].injected();
  ASSERT_NE(given.find(kRequest), std::string::npos) << given;
  EXPECT_EQ(requests[1].injected(), given);
  EXPECT_EQ(requests[1].count(kRequest), requests[0].count(kRequest));
}

}  // namespace
}  // namespace cairn::test
