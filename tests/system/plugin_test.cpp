// The commands of the plugin as the host runs them: through a shell, whatever is missing.
#include <sys/stat.h>

#include "system/cli_home.h"

namespace cairn::test {
namespace {

class PluginCommand : public CliHome {
 protected:
  const std::string root_ = std::string(CAIRN_TESTS_DIR) + "/../plugin";

  std::vector<std::pair<std::string, std::string>> commands() const {
    std::vector<std::pair<std::string, std::string>> list;
    const Json file = Json::parse(read_text(root_ + "/hooks/hooks.json")).value_or(Json());
    for (const auto& [event, groups] : file["hooks"].members())
      for (const Json& group : groups.items())
        for (const Json& hook : group["hooks"].items()) list.emplace_back(event, hook["command"].as_string());
    return list;
  }

  Outcome run_command(const std::string& command, std::vector<std::string> environment) const {
    Program shell{.argv = {"/bin/sh", "-c", command}, .env = std::move(environment), .clean_env = true};
    shell.input = R"({"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse"})";
    return run(shell);
  }

  // Exit code 2 would block the tool, and text on stderr would be shown.
  void expect_harmless(std::vector<std::string> environment, std::string_view missing) const {
    for (const auto& [event, command] : commands()) {
      const Outcome outcome = run_command(command, environment);
      EXPECT_EQ(outcome.exit_code, 0) << missing << ": " << outcome.describe();
      const bool silent = event == "PreCompact" || std::string_view(trim(outcome.out)).empty();
      EXPECT_TRUE(silent || Json::parse(outcome.out).ok()) << missing << ": " << outcome.describe();
    }
  }
};

TEST_F(PluginCommand, SucceedsWhateverIsMissing) {
  ASSERT_FALSE(commands().empty());
  const std::string root = "CLAUDE_PLUGIN_ROOT=" + root_, home = "HOME=" + dir_.path();
  expect_harmless({root, home, "PATH=/usr/bin:/bin"}, "the programs");
  expect_harmless({root, "PATH=/usr/bin:/bin"}, "HOME");
  expect_harmless({root, home, "PATH="}, "PATH");
  expect_harmless({home, "PATH=/usr/bin:/bin"}, "CLAUDE_PLUGIN_ROOT");
  expect_harmless({"CLAUDE_PLUGIN_ROOT=/nowhere", home, "PATH=/usr/bin:/bin"}, "the wrapper");
}

TEST_F(PluginCommand, SucceedsWhenTheProgramDoesNotRun) {
  const std::string hook = dir_ / ".local/bin/cairn-hook";
  const std::vector<std::string> environment = {"CLAUDE_PLUGIN_ROOT=" + root_, "HOME=" + dir_.path(),
                                                "PATH=/usr/bin:/bin"};
  write_file(hook, "#!/nowhere/interpreter\n");
  ::chmod(hook.c_str(), 0755);
  expect_harmless(environment, "its interpreter");
  write_file(hook, "#!/bin/sh\necho trouble >&2\nexit 2\n");
  expect_harmless(environment, "its success");
  write_file(hook, "#!/bin/sh\nkill -9 $$\n");
  expect_harmless(environment, "its life");
}

TEST_F(PluginCommand, RunsTheProgramThatIsThere) {
  for (const auto& [event, command] : commands()) {
    const Outcome outcome =
        run_command(command, {"CLAUDE_PLUGIN_ROOT=" + root_, "HOME=" + dir_.path(), "CAIRN_HOME=" + home(),
                              "PATH=" CAIRN_BIN_DIR ":/usr/bin:/bin"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  }
  EXPECT_TRUE(exists(home() + "/inbox"));
}

}  // namespace
}  // namespace cairn::test
