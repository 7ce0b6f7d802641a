// The plugin in the real host: validated, installed from the repository as its marketplace, and at work
// there.
#include <gtest/gtest.h>

#include <filesystem>

#include "host/claude.h"

namespace cairn::test {
namespace {

class Plugin : public HostTest {
 protected:
  void SetUp() override {
    const std::string problem = machine.start();
    ASSERT_TRUE(problem.empty()) << problem;
  }

  Outcome claude(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), machine.prompt_program("none", "").argv[0]);
    return machine.run_here(arguments);
  }

  void install_programs() const {
    const std::string bin = machine.path("home/.local/bin");
    std::filesystem::create_directories(bin);
    for (const char* name : {"cairn", "cairn-hook"})
      std::filesystem::create_symlink(std::string(CAIRN_BIN_DIR "/") + name, bin + "/" + name);
  }
  // The words of a document that begin with `claude plugin`, in their order.
  static std::vector<std::string> commands_of(const std::string& document) {
    std::vector<std::string> commands;
    const std::string text = read_text(document);
    for (std::size_t at = 0; (at = text.find("claude plugin ", at)) != std::string::npos;) {
      const std::size_t end = text.find_first_of("`\n", at);
      commands.push_back(text.substr(at, end - at));
      at = end;
    }
    return commands;
  }
  // Typed in the directory of the repository.
  Outcome type(const std::string& command) const {
    const std::string program = machine.prompt_program("none", "").argv[0];
    const std::string bin = std::filesystem::path(program).parent_path().string();
    return machine.run_here(
        {"/bin/sh", "-c", "cd '" + top_ + "' && PATH='" + bin + "':\"$PATH\" && " + command});
  }
  // As README says it.
  void install_plugin() const {
    const std::vector<std::string> commands = commands_of(top_ + "/README.md");
    ASSERT_EQ(commands.size(), 2u) << "marketplace add, install";
    for (const std::string& command : commands) {
      const Outcome outcome = type(command);
      ASSERT_TRUE(outcome.ok()) << command << ": " << outcome.describe();
    }
  }

  Session work() {
    machine.script("work", {call("Write", Json::object({{"file_path", machine.project() + "/src/lexer.cpp"},
                                                        {"content", "int lex();\n"}})),
                            say("The lexer is repaired.")});
    Session session = machine.prompt("work", "Please repair the lexer");
    EXPECT_EQ(session.result, "The lexer is repaired.") << session.outcome.describe();
    expect_valid_answer(session);
    return session;
  }

  // The doctor's finding; its exit code is 1 when something failed.
  Json finding(std::string_view name) const {
    const Json report = Json::parse(machine.cairn({"doctor", "--json"}).out).value_or(Json());
    for (const Json& check : report["checks"].items())
      if (check["group"].as_string() == "Claude Code" && check["name"].as_string() == name) return check;
    return {};
  }

  const std::string top_ = std::filesystem::path(CAIRN_TESTS_DIR).parent_path().string();
};

TEST_F(Plugin, PassesTheHostsOwnValidation) {
  for (const std::string& directory : {top_, top_ + "/plugin"}) {
    const Outcome outcome = claude({"plugin", "validate", directory});
    EXPECT_TRUE(outcome.ok()) << outcome.describe();
    EXPECT_NE(outcome.out.find("Validation passed"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("arning"), std::string::npos) << outcome.out;
  }
}

TEST_F(Plugin, IsInstalledAndRemovedByTheWordsOfItsOwnPage) {
  const std::vector<std::string> commands = commands_of(top_ + "/plugin/README.md");
  ASSERT_EQ(commands.size(), 3u) << "marketplace add, install, uninstall";
  for (const std::string& command : commands) {
    const Outcome outcome = type(command);
    EXPECT_TRUE(outcome.ok()) << command << ": " << outcome.describe();
  }
}

TEST_F(Plugin, WhoseWrapperIsGoneBlocksNoTool) {
  install_plugin();
  std::filesystem::path wrapper;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(machine.config_dir()))
    if (entry.path().filename() == "cairn-hook") wrapper = entry.path();
  ASSERT_FALSE(wrapper.empty()) << "the host keeps a copy of the plugin";
  std::filesystem::remove(wrapper);
  machine.script("work", {call("Write", Json::object({{"file_path", machine.project() + "/src/lexer.cpp"},
                                                      {"content", "int lex();\n"}})),
                          say("The lexer is repaired.")});
  const Session session = machine.prompt("work", "Please repair the lexer");
  EXPECT_EQ(session.result, "The lexer is repaired.") << session.outcome.describe();
  EXPECT_TRUE(std::filesystem::exists(machine.project() + "/src/lexer.cpp")) << "the tool was not blocked";
}

TEST_F(Plugin, RegistersOnlyEventsThatOldHostsKnow) {
  const Json hooks = Json::parse(read_text(top_ + "/plugin/hooks/hooks.json")).value_or(Json())["hooks"];
  std::vector<std::string> events;
  for (const auto& [event, groups] : hooks.members()) {
    events.push_back(event);
    EXPECT_EQ(groups.items()[0]["hooks"].items()[0]["command"].as_string(),
              "sh \"${CLAUDE_PLUGIN_ROOT}/bin/cairn-hook\" " + event + " || true");
  }
  EXPECT_EQ(events,
            (std::vector<std::string>{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop",
                                      "SubagentStop", "PreCompact", "SessionEnd", "Notification"}));
}

TEST_F(Plugin, AloneGivesTheNextSessionWhatTheLastOneDid) {
  install_programs();
  install_plugin();
  work();
  machine.script("next", {say("I see.")});
  expect_valid_answer(machine.prompt("next", "What now?"));
  const auto requests = machine.requests("next");
  ASSERT_FALSE(requests.empty());
  EXPECT_NE(requests[0].injected().find("src/lexer.cpp"), std::string::npos) << requests[0].injected();
  machine.process_and_check();
  EXPECT_EQ(finding("hooks")["verdict"].as_string(), "pass") << finding("hooks").dump();
  EXPECT_EQ(finding("once")["verdict"].as_string(), "pass");
}

TEST_F(Plugin, BesideTheSettingsCountsNoEventTwice) {
  install_programs();
  install_plugin();
  machine.install_cairn();
  EXPECT_EQ(finding("once")["verdict"].as_string(), "fail");
  EXPECT_NE(finding("once")["found"].as_string().find("cairn@cairn"), std::string_view::npos);
  const Session session = work();
  machine.process_and_check();
  const Json shown = machine.cairn_json({"sessions", "show", session.id, "--events"});
  EXPECT_EQ(shown["prompts"].as_int(), 1) << shown.dump(1);
  EXPECT_EQ(shown["turns"].items().size(), 1u);
  EXPECT_GT(shown["events_by_outcome"]["duplicate"].as_int(), 0) << shown.dump(1);
  std::size_t writes = 0;
  for (const Json& event : shown["events"].items())
    writes += event["event"].as_string() == "PostToolUse" && event["outcome"].as_string() == "stored";
  EXPECT_EQ(writes, 1u) << shown.dump(1);
}

TEST_F(Plugin, WithoutTheProgramsSaysHowToInstallThemAndBlocksNothing) {
  install_plugin();
  const Session session = work();
  std::size_t hints = 0;
  for (const HookReply& hook : session.hooks)
    hints += hook.event == "SessionStart" && hook.out.find("./setup") != std::string::npos;
  EXPECT_EQ(hints, 1u) << session.outcome.describe();
  EXPECT_FALSE(std::filesystem::exists(machine.cairn_home() + "/inbox"));
}

}  // namespace
}  // namespace cairn::test
