// Documents in the real host: saved with a command, resumed with one in another session.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "host/claude.h"

namespace cairn::test {
namespace {

class Documents : public HostTest {
 protected:
  Session play(const std::string& script, std::string_view prompt, Json::Array turns,
               std::vector<std::string> flags = {}) {
    machine.script(script, std::move(turns));
    Session session = machine.prompt(script, prompt, std::move(flags));
    EXPECT_FALSE(session.failed) << session.outcome.describe();
    expect_valid_answer(session);
    return session;
  }
  Json write(const std::string& file) const {
    return call("Write", Json::object({{"file_path", machine.project() + "/" + file}, {"content", "x\n"}}));
  }
  // The commands find `cairn` on the host's PATH.
  static void find_cairn() {
    const char* path = std::getenv("PATH");
    setenv("PATH", (std::string(CAIRN_BIN_DIR ":") + (path ? path : "/usr/bin:/bin")).c_str(), 1);
  }
  void SetUp() override {
    find_cairn();
    HostTest::SetUp();
  }
};

TEST_F(Documents, ASavedSessionIsResumedWithWhatCameAfterItAndWhatIsOpen) {
  const Session first = play("one", "make a parser",
                             {write("parser.cpp"), say("The parser is made.\n\nNext: add a benchmark.")});
  const std::string save = "cairn save - <<'END'\n## Session Summary\n\nThe parser reads dates.\nEND\n";
  play("save", "/cairn-save", {call("Bash", Json::object({{"command", save}})), say("Saved as D1.")},
       {"--resume", first.id});
  const auto asked = machine.requests("save");
  ASSERT_FALSE(asked.empty());
  EXPECT_TRUE(asked[0].has("Save it: `cairn save -`")) << "the body of the command reaches the model";
  EXPECT_TRUE(asked[0].has("## Failed Approaches")) << "and the template that it asks cairn for";
  ASSERT_EQ(machine.cairn_json({"docs", "list"})["documents"].items().size(), 1u);
  play("more", "test it", {write("parser_check.cpp"), say("It is tested.")}, {"--resume", first.id});
  machine.process_and_check();

  play("resume", "/cairn-resume", {say("I see.")});
  const auto requests = machine.requests("resume");
  ASSERT_FALSE(requests.empty());
  for (const char* part :
       {"Resuming from D1", "The parser reads dates.", "parser_check.cpp", "add a benchmark"})
    EXPECT_TRUE(requests[0].has(part)) << part << "\n" << requests[0].text;
}

// The plugin alone, from its directory: no settings.json of cairn.
class PluginDocuments : public Documents {
 protected:
  const std::string plugin_ = std::string(CAIRN_TESTS_DIR) + "/../plugin";

  void SetUp() override {
    find_cairn();
    const std::string problem = machine.start();
    ASSERT_TRUE(problem.empty()) << problem;
  }
  Session play_with_plugin(const std::string& script, std::string_view prompt, Json::Array turns,
                           std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--plugin-dir", plugin_});
    return play(script, prompt, std::move(turns), std::move(flags));
  }
  // What runs apart is refused a change of a file. The host lists all tools to it and refuses the call.
  void expect_refused(const ModelRequest& after, const std::string& file) const {
    EXPECT_FALSE(std::filesystem::exists(machine.project() + "/" + file)) << after.text;
    EXPECT_FALSE(after.has("File created successfully at: " + machine.project() + "/" + file)) << after.text;
  }
};

TEST_F(PluginDocuments, ASessionSavedWithACommandIsResumedWithOneInTheNext) {
  const Session first = play_with_plugin(
      "one", "make a parser", {write("parser.cpp"), say("The parser is made.\n\nNext: add a benchmark.")});
  const std::string save = "cairn save - <<'END'\n## Session Summary\n\nThe parser reads dates.\nEND\n";
  play_with_plugin("save", "/cairn:save", {bash(save), say("Saved as D1.")}, {"--resume", first.id});
  const auto asked = machine.requests("save");
  ASSERT_FALSE(asked.empty());
  EXPECT_TRUE(asked[0].has("Save it: `cairn save -`")) << asked[0].text;
  EXPECT_TRUE(asked[0].has("## Failed Approaches")) << "the template that the command asks cairn for";
  ASSERT_EQ(machine.cairn_json({"docs", "list"})["documents"].items().size(), 1u);
  play_with_plugin("more", "test it", {write("parser_check.cpp"), say("It is tested.")},
                   {"--resume", first.id});
  machine.process_and_check();

  const Session next = play_with_plugin("resume", "/cairn:resume",
                                        {bash("echo \"id=$CAIRN_SESSION_ID stale=$CAIRN_CONTEXT_STALE "
                                              "pending=$CAIRN_PENDING_BACKUP\""),
                                         say("I see.")});
  const auto requests = machine.requests("resume");
  ASSERT_EQ(requests.size(), 2u);
  for (const char* part :
       {"Resuming from D1", "The parser reads dates.", "parser_check.cpp", "add a benchmark"})
    EXPECT_TRUE(requests[0].has(part)) << part << "\n" << requests[0].text;
  EXPECT_TRUE(requests[1].has("id=" + next.id + " stale=0 pending=B")) << "the host's file has our variables";
}

// The names and descriptions that the host puts into every session.
TEST_F(PluginDocuments, TheHostListsAtMostTwoHundredTokensOfOursToTheModel) {
  play_with_plugin("list", "hello", {say("Hello.")});
  const auto requests = machine.requests("list");
  ASSERT_FALSE(requests.empty());
  std::string listed;
  for (const std::string_view line : split(requests[0].text, '\n'))
    if (line.find("cairn:") != std::string_view::npos && line.find("cairn-memory") == std::string_view::npos)
      listed.append(line).append("\n");
  EXPECT_NE(listed.find("cairn:recall"), std::string::npos) << listed;
  for (const char* hidden :
       {"cairn:save", "cairn:coalesce", "cairn:search", "cairn:open", "cairn:status", "cairn:resume:"})
    EXPECT_EQ(listed.find(hidden), std::string::npos) << listed;
  EXPECT_LE(estimate_tokens(listed), 200u) << listed;
}

TEST_F(PluginDocuments, CoalesceRunsApartWithFewToolsAndOnlyItsAnswerComesBack) {
  const Session first = play_with_plugin("one", "make a parser", {write("parser.cpp"), say("Made.")});
  machine.process_and_check();
  ASSERT_TRUE(machine.cairn({"save", "The parser reads dates"}).ok());
  play_with_plugin("more", "test it", {write("parser_check.cpp"), say("It is tested.")},
                   {"--resume", first.id});
  machine.process_and_check();
  const Session apart = play_with_plugin("coalesce", "/cairn:coalesce",
                                         {bash("cairn coalesce"), write("stray.txt"), bash("cairn docs show"),
                                          say("A check of the parser was added.")});
  const auto requests = machine.requests("coalesce");
  ASSERT_EQ(requests.size(), 4u);
  expect_refused(requests[2], "stray.txt");
  EXPECT_TRUE(requests[3].has("parser_check.cpp")) << "the fork reads the document";
  play_with_plugin("after", "and now", {say("Well.")}, {"--resume", apart.id});
  const auto after = machine.requests("after");
  ASSERT_FALSE(after.empty());
  EXPECT_TRUE(after[0].has("A check of the parser was added."));
  EXPECT_FALSE(after[0].has("## Session Continuation")) << "only the answer comes back";
}

TEST_F(PluginDocuments, ALongDocumentIsReadApartAndADigestComesBack) {
  play_with_plugin("one", "make a parser", {write("parser.cpp"), say("Made.")});
  machine.process_and_check();
  std::string body = "## Session Summary\n\nThe parser reads dates.\n\n## Code Understanding\n\n";
  for (int i = 0; i < 400; ++i) body += "- Rule " + std::to_string(i) + " of the grammar is ambiguous.\n";
  const std::string file = machine.path("long.md");
  write_file(file, body);
  ASSERT_TRUE(machine.cairn({"save", "--file", file}).ok());
  play_with_plugin("resume", "/cairn:resume",
                   {call("Skill", Json::object({{"skill", "cairn:resume-long"}})), write("stray.txt"),
                    bash("cairn resume --brief 28000"), say("DIGEST: the grammar has 400 rules."),
                    say("The work stands well.")});
  const auto requests = machine.requests("resume");
  ASSERT_EQ(requests.size(), 5u);
  EXPECT_TRUE(requests[0].has("(shortened)"));
  EXPECT_FALSE(requests[0].has("Rule 399 of the grammar"));
  expect_refused(requests[2], "stray.txt");
  EXPECT_TRUE(requests[3].has("Rule 399 of the grammar")) << "the fork has all of it";
  EXPECT_TRUE(requests[4].has("DIGEST: the grammar has 400 rules."));
  EXPECT_FALSE(requests[4].has("Rule 399 of the grammar")) << "the main context has not";
}

// Nothing is asked: `cairn` is allowed by the command itself.
TEST_F(PluginDocuments, NoPermissionIsNeededToSave) {
  play_with_plugin("one", "make a parser", {write("parser.cpp"), say("Made.")});
  machine.process_and_check();
  machine.script("save", {bash("cairn save 'The parser reads dates'"), say("Saved.")});
  Program program = machine.prompt_program("save", "/cairn:save", {"--plugin-dir", plugin_});
  std::erase(program.argv, "--dangerously-skip-permissions");
  const Outcome outcome = run(program);
  EXPECT_EQ(test::HostMachine::read_session(outcome).result, "Saved.") << outcome.describe();
  EXPECT_EQ(machine.cairn_json({"docs", "list"})["documents"].items().size(), 1u);
}

}  // namespace
}  // namespace cairn::test
