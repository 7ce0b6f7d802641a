// The cycle with the real programs: a session ends, and the next one is given what it did.
#include "system/home_fixture.h"

namespace cairn::test {

using CycleTest = HomeTest;

TEST_F(CycleTest, TheNextSessionIsGivenWhatTheLastOneDid) {
  play_session("one", "create the test file", "test.txt");
  const std::string context = context_of(start_answer("two"));
  EXPECT_NE(context.find("test.txt"), std::string::npos) << context;
  EXPECT_NE(context.find("create the test file"), std::string::npos) << context;
  EXPECT_NE(log().find("finalize received session=one"), std::string::npos);
}

TEST_F(CycleTest, WorksWithTheDaemonKilledBetweenTheSessions) {
  play_session("one", "create the test file", "test.txt");
  for (const pid_t pid : daemons()) ::kill(pid, SIGKILL);
  ASSERT_TRUE(wait_until([this] { return daemons().empty(); }, 5s));
  EXPECT_NE(context_of(start_answer("two")).find("test.txt"), std::string::npos);
}

TEST_F(CycleTest, SaysInAFreshHomeThatItRecordsAndGivesNothing) {
  const Json answer = start_answer("one");
  EXPECT_EQ(answer["systemMessage"].as_string(), "cairn: recording; nothing remembered here yet");
  EXPECT_EQ(context_of(answer), "");
}

TEST_F(CycleTest, PrintsTheSameBytesAsTheSessionWasGiven) {
  play_session("one", "create the test file", "test.txt");
  const std::string context = context_of(start_answer("two"));
  ASSERT_FALSE(context.empty());
  EXPECT_EQ(cairn({"context"}).out, context + "\n");
}

TEST_F(CycleTest, SaysOnStartupInOneLineWhatItGave) {
  play_session("one", "create the test file", "test.txt");
  const Json answer = start_answer("two");
  EXPECT_NE(answer["systemMessage"].as_string().find("create the test file"), std::string_view::npos);
  EXPECT_EQ(cairn({"config", "set", "context.notice", "off"}).exit_code, 0);
  EXPECT_TRUE(start_answer("three")["systemMessage"].is_null());
}

TEST_F(CycleTest, AResumedSessionIsGivenOnlyWhatIsNew) {
  play_session("one", "create the test file", "test.txt");
  EXPECT_FALSE(context_of(start_answer("two")).empty());
  EXPECT_EQ(context_of(start_answer("two", "resume")), "");
  play_session("three", "write the second file", "second.txt");
  const Outcome again =
      hook("SessionStart", payload("two", Json::object({{"source", "resume"}, {"model", "m"}})));
  const std::string fresh = context_of(Json::parse(again.out).value_or(Json()));
  EXPECT_NE(fresh.find("second.txt"), std::string::npos);
  EXPECT_EQ(fresh.find("test.txt"), std::string::npos);
}

TEST_F(CycleTest, KeepsPrivateTextOutOfEveryFileOfTheHome) {
  const std::string secret = "xyzzy-hidden-word";
  hook("UserPromptSubmit",
       payload("one", Json::object(
                          {{"prompt", "look <private>" + secret + "</private> here"}, {"prompt_id", "p"}})));
  hook("PostToolUse",
       payload("one", Json::object({{"tool_name", "Write"},
                                    {"prompt_id", "p"},
                                    {"tool_use_id", "t"},
                                    {"tool_input", Json::object({{"file_path", project_ + "/a"},
                                                                 {"content", "<private>" + secret}})}})));
  hook("Stop",
       payload("one", Json::object({{"prompt_id", "p"},
                                    {"last_assistant_message", "done <PRIVATE>" + secret + "</PRIVATE>"}})));
  EXPECT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  const Outcome grep = run({.argv = {"grep", "-r", "-a", "-l", secret, home_.data}});
  EXPECT_EQ(grep.exit_code, 1) << grep.out;
}

TEST_F(CycleTest, LeavesNothingPendingAfterProcessWait) {
  hook("UserPromptSubmit", payload("one", Json::object({{"prompt", "work"}, {"prompt_id", "p"}})));
  hook("PostToolUse", payload("one", Json::object({{"tool_name", "Bash"},
                                                   {"prompt_id", "p"},
                                                   {"tool_use_id", "t"},
                                                   {"tool_input", Json::object({{"command", "make"}})}})));
  EXPECT_EQ(json({"process"})["queue"]["pending"].as_int(), 1) << "an open turn waits";
  const Json done = json({"process", "--wait"});
  EXPECT_EQ(done["queue"]["pending"].as_int(), 0);
  EXPECT_EQ(done["queue"]["processing"].as_int(), 0);
  EXPECT_EQ(done["inbox"].as_int(), 0);
}

TEST_F(CycleTest, ShowsEventsThatCouldNotBeRead) {
  hook("PostToolUse", "this is not JSON");
  hook("PostToolUse", "");
  const Json status = json({"process"});
  const Json report = json({"status"});
  EXPECT_EQ(report["ledger"]["counted"]["bad"].as_int(), 2);
  EXPECT_EQ(report["ledger"]["gap"].as_int(), 0);
  ASSERT_EQ(report["problems"].items().size(), 1u);
  EXPECT_NE(report["problems"].items()[0].as_string().find("2 events could not be read"),
            std::string_view::npos);
  EXPECT_NE(start_answer("two")["systemMessage"].as_string().find("2 events could not be read"),
            std::string_view::npos);
  EXPECT_EQ(start_answer("three")["systemMessage"].as_string().find("could not be read"),
            std::string_view::npos)
      << "reported once";
}

}  // namespace cairn::test
