// The agent's tools and help at the moment of action in the real host: called without a question, and given
// where the model reads it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "host/claude.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

class Tools : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    // A loaded machine must not decide these tests.
    set("hook.deadline_ms.user_prompt_submit", "5000");
  }
  void set(const std::string& key, const std::string& value) {
    const Outcome outcome = machine.cairn({"config", "set", key, value});
    ASSERT_TRUE(outcome.ok()) << outcome.describe();
  }
  void work() {
    machine.script("work", {call("Write", Json::object({{"file_path", machine.project() + "/src/lexer.cpp"},
                                                        {"content", "int lex();\n"}})),
                            bash("test -f src/lexer.cpp && sh -c 'echo all tests passed'"),
                            say("The lexer reads wide words as one token.")});
    const Session session = machine.prompt("work", "Please repair the wide words of the lexer");
    ASSERT_EQ(session.result, "The lexer reads wide words as one token.") << session.outcome.describe();
    machine.process_and_check();
  }
  // `claude -p` as people run it: what is not allowed is denied.
  Session ask(std::string_view script, std::string_view text, std::vector<std::string> flags = {}) {
    Program program = machine.prompt_program(script, text, std::move(flags));
    std::erase(program.argv, "--dangerously-skip-permissions");
    return HostMachine::read_session(run(program));
  }
  static std::string denials(const Session& session) {
    const std::size_t at = session.outcome.out.find("\"permission_denials\":");
    return at == std::string::npos ? "no result" : session.outcome.out.substr(at + 21, 2);
  }
  void search_and_get(const std::string& prefix) {
    machine.script("ask",
                   {call(prefix + "search", Json::object({{"query", "wide words"}})),
                    call(prefix + "get", Json::object({{"ids", Json::array({"S1"})}})), say("I know.")});
    const Session session = ask("ask", "What do you know about wide words?");
    EXPECT_EQ(session.result, "I know.") << session.outcome.describe();
    EXPECT_EQ(denials(session), "[]") << session.outcome.out;
    const auto requests = machine.requests("ask");
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_TRUE(requests[1].has("tokens\nS")) << requests[1].text;
    EXPECT_TRUE(requests[2].has("1 record, ")) << requests[2].text;
    EXPECT_TRUE(requests[2].has("answer:\n  The lexer reads wide words as one token.")) << requests[2].text;
  }
};

TEST_F(Tools, SearchAndThenGetAreAnsweredWithoutAPermissionQuestion) {
  work();
  search_and_get("mcp__cairn__");
  const auto requests = machine.requests("ask");
  EXPECT_TRUE(requests[0].has("Memory of earlier sessions")) << "the server's instructions";
  machine.process_and_check();
  EXPECT_EQ(machine.cairn({"search", "\"Memory of earlier sessions\""}).exit_code, 3)
      << "what the tools gave is not learned";
}

TEST_F(Tools, RememberAsksFirst) {
  machine.script(
      "ask", {call("mcp__cairn__remember", Json::object({{"text", "The lexer is slow."}})), say("Well.")});
  const Session session = ask("ask", "Remember that");
  EXPECT_NE(denials(session), "[]") << session.outcome.out;
}

TEST_F(Tools, WhatACompactionMustKeepReachesIt) {
  work();
  ASSERT_TRUE(machine.cairn({"remember", "Comments are in English"}).ok());
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
  }
  const auto requests = machine.requests("tui");
  ASSERT_GE(requests.size(), 3u);
  ASSERT_TRUE(requests[2].has("CRITICAL: Respond with TEXT ONLY")) << requests[2].text;
  EXPECT_TRUE(requests[2].has("The summary must keep these")) << requests[2].text;
  EXPECT_TRUE(requests[2].has("Comments are in English"));
  const Json given = machine.cairn_json({"context", "log"})["given"];
  EXPECT_TRUE(std::any_of(given.items().begin(), given.items().end(), [](const Json& row) {
    return row["event"].as_string() == "PreCompact" && row["given"].as_bool();
  })) << given.dump(1);
}

TEST_F(Tools, ABriefReachesTheSubagent) {
  work();
  ASSERT_TRUE(machine.cairn({"remember", "Comments are in English"}).ok());
  set("context.on_subagent", "true");
  machine.script("ask",
                 {call("Agent", Json::object({{"description", "count"},
                                              {"prompt", "COUNT THE FILES"},
                                              {"subagent_type", "general-purpose"}})),
                  say("Counted.")},
                 {Json::object({{"first", "COUNT THE FILES"}, {"turns", Json::array({say("42 files.")})}})});
  const Session session = machine.prompt("ask", "How many files?");
  EXPECT_EQ(session.result, "Counted.") << session.outcome.describe();
  const auto requests = machine.requests("ask");
  const auto subagent = std::find_if(requests.begin(), requests.end(), [](const ModelRequest& request) {
    return request.answer.find("rule") != std::string::npos ||
           request.has("SubagentStart hook additional context");
  });
  ASSERT_NE(subagent, requests.end());
  EXPECT_TRUE(subagent->has("Comments are in English")) << subagent->text;
}

TEST_F(Tools, WhatFixedAnErrorBeforeReachesTheModel) {
  const std::string check =
      "test -f src/lexer.cpp || { echo 'error: no rule to make the wide token table'; exit 2; }; "
      "sh -c 'echo all tests passed'";
  write_file(machine.project() + "/Makefile", "check:\n\t@" + check + "\n");
  machine.script("work", {bash("make check"),
                          call("Write", Json::object({{"file_path", machine.project() + "/src/lexer.cpp"},
                                                      {"content", "int lex();\n"}})),
                          bash("make check"), say("The table is made.")});
  ASSERT_EQ(machine.prompt("work", "Make the check pass").result, "The table is made.");
  machine.process_and_check();
  set("context.on_failure", "true");
  std::filesystem::remove(machine.project() + "/src/lexer.cpp");
  machine.script("again", {bash("make check"), say("I see.")});
  const Session session = machine.prompt("again", "Check it");
  EXPECT_EQ(session.result, "I see.") << session.outcome.describe();
  const auto requests = machine.requests("again");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(requests[1].has("The same error was fixed here before")) << requests[1].text;
  EXPECT_TRUE(requests[1].has("src/lexer.cpp"));
}

class ToolsOfThePlugin : public Tools {
 protected:
  void SetUp() override {
    const std::string problem = machine.start();
    ASSERT_TRUE(problem.empty()) << problem;
  }
};

TEST_F(ToolsOfThePlugin, AreThereWithoutAnInstall) {
  const std::string bin = machine.path("home/.local/bin");
  std::filesystem::create_directories(bin);
  for (const char* name : {"cairn", "cairn-hook"})
    std::filesystem::create_symlink(std::string(CAIRN_BIN_DIR "/") + name, bin + "/" + name);
  const std::string plugin = std::filesystem::path(CAIRN_TESTS_DIR).parent_path().string() + "/plugin";
  machine.script("ask", {call("mcp__plugin_cairn_cairn__search", Json::object({{"query", "anything"}})),
                         say("Nothing.")});
  const Session session = machine.prompt("ask", "What do you know?", {"--plugin-dir", plugin});
  EXPECT_EQ(session.result, "Nothing.") << session.outcome.describe();
  const auto requests = machine.requests("ask");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(requests[1].has("nothing found") || requests[1].has("nothing is remembered") ||
              requests[1].has(" result"))
      << requests[1].text;
}

}  // namespace
}  // namespace cairn::test
