// What is written into the agents' files, and that removing it gives every byte back.
#include <gtest/gtest.h>

#include "cli/install.h"
#include "host/files.h"
#include "host/host.h"
#include "support/temp_dir.h"

namespace cairn::cli {
namespace {

using host::HookProgram;
const HookProgram kProgram{"/home/dev/.local/bin/cairn-hook", false};

const host::SettingsFile& file_of(std::string_view name, std::size_t index) {
  return *host::find_host(name).files()[index];
}

// Two texts that people have in such a file.
struct Sample {
  const char* host;
  std::size_t file;
  std::vector<std::string> texts;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"codex",
       0,
       {"",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}}\n"}},
      {"codex",
       1,
       {"", "model = \"gpt-5.5\"\n", "model = \"gpt-5.5\"\n\n[mcp_servers.other]\ncommand = \"x\"\n",
        "a = 1"}},
      {"gemini", 0, {""}},
      {"gemini", 1, {""}},
      {"gemini", 2, {""}},
      {"opencode", 0, {""}},
      {"opencode",
       1,
       {"", "{\n\t\"model\": \"a/b\"\n}\n", "{\"mcp\":{\"other\":{\"type\":\"local\"}}}", "{\"mcp\": {}}"}},
      {"qwen",
       0,
       {"", "{\n  \"model\": {\"name\": \"q\"}\n}\n",
        "{\"hooks\": {}, \"mcpServers\": {\"a\": {\"command\": \"b\"}}}"}},
      {"copilot", 0, {""}},
      {"copilot", 1, {"", "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}"}},
  };
  return all;
}

class AgentFiles : public testing::Test {
 protected:
  std::string read(const std::string& path) { return os::read_file(disk_, path, 1 << 20).value_or("(none)"); }
  std::string install(const host::SettingsFile& file, const std::string& path) {
    const auto plan = plan_install(file, disk_, path, kProgram);
    EXPECT_TRUE(plan.ok()) << plan.error().message;
    const Status done = apply_install(disk_, *plan);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return read(path);
  }

  os::RealDisk disk_;
  test::TempDir dir_{"cairn-agents"};
};

TEST_F(AgentFiles, EveryByteComesBack) {
  int number = 0;
  for (const Sample& sample : samples())
    for (const std::string& text : sample.texts) {
      const host::SettingsFile& file = file_of(sample.host, sample.file);
      const std::string path = dir_ / (".h" + std::to_string(++number) + "/settings");
      ASSERT_TRUE(os::make_dirs(disk_, path.substr(0, path.rfind('/'))).ok());
      if (!text.empty()) test::write_file(path, text);
      const std::string with = install(file, path);
      EXPECT_GT(file.count(with), 0u) << sample.host << with;
      EXPECT_EQ(install(file, path), with) << "a second install changed it: " << sample.host;
      const auto plan = plan_uninstall(file, disk_, path);
      ASSERT_TRUE(plan.ok()) << plan.error().message;
      ASSERT_TRUE(apply_install(disk_, *plan).ok());
      EXPECT_EQ(read(path), text.empty() ? "(none)" : text) << sample.host << " " << sample.file;
      EXPECT_TRUE(disk_.list(path.substr(0, path.rfind('/')))->size() == (text.empty() ? 0u : 1u))
          << "something is left behind: " << sample.host << " " << sample.file;
    }
}

TEST_F(AgentFiles, WhatTheUserChangedSinceStays) {
  const host::SettingsFile& file = file_of("codex", 1);
  const std::string path = dir_ / ".codex/config.toml";
  test::write_file(path, "model = \"a\"\n");
  install(file, path);
  test::write_file(path, read(path) + "\n[profiles.x]\nmodel = \"b\"\n");
  ASSERT_TRUE(apply_install(disk_, *plan_uninstall(file, disk_, path)).ok());
  EXPECT_EQ(read(path), "model = \"a\"\n\n[profiles.x]\nmodel = \"b\"\n");
}

TEST_F(AgentFiles, ACommentBelowOurTableIsTheUsers) {
  const host::SettingsFile& file = file_of("codex", 1);
  const std::string before = "model = \"a\"\n", mine = "# for work\n\n# mine\n[profiles.x]\nmodel = \"b\"\n";
  for (const std::string between : {"", "\n"}) {
    const std::string ours = *file.with_ours(before, kProgram);
    const HookProgram moved{"/opt/cairn/bin/cairn-hook", false};
    const std::string after = *file.with_ours(ours + between + mine, moved);
    EXPECT_EQ(after, *file.with_ours(before, moved) + between + mine);
    EXPECT_EQ(*file.without_ours(after, before), before + between + mine);
  }
}

TEST_F(AgentFiles, AnothersFileAndServerAreLeftAlone) {
  EXPECT_FALSE(file_of("opencode", 0).with_ours("export const Mine = 1\n", kProgram).ok());
  EXPECT_FALSE(file_of("opencode", 1).with_ours(R"({"mcp":{"cairn":{"command":["other"]}}})", kProgram).ok());
  EXPECT_FALSE(file_of("codex", 1).with_ours("[mcp_servers.cairn]\ncommand = \"other\"\n", kProgram).ok());
  EXPECT_FALSE(file_of("opencode", 1).with_ours("{ // mine\n}", kProgram).ok());
}

TEST_F(AgentFiles, TheServerIsCairnByItsPath) {
  const std::string toml = *file_of("codex", 1).with_ours("", kProgram);
  EXPECT_EQ(toml, "[mcp_servers.cairn]\ncommand = \"/home/dev/.local/bin/cairn\"\nargs = [\"mcp\"]\n");
  EXPECT_NE(file_of("copilot", 1).with_ours("", kProgram)->find("\"/home/dev/.local/bin/cairn\""),
            std::string::npos);
}

TEST_F(AgentFiles, AProgramThatMovedIsReplaced) {
  for (const Sample& sample : samples()) {
    const host::SettingsFile& file = file_of(sample.host, sample.file);
    const std::string before = *file.with_ours("", kProgram);
    const HookProgram moved{"/opt/cairn/bin/cairn-hook", false};
    const auto after = file.with_ours(before, moved);
    ASSERT_TRUE(after.ok()) << sample.host << after.error().message;
    EXPECT_EQ(*after, *file.with_ours("", moved)) << sample.host << " " << sample.file;
  }
}

}  // namespace
}  // namespace cairn::cli
