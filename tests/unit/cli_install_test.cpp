#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/diff.h"
#include "cli/install.h"
#include "support/temp_dir.h"
#include "unit/install_fixture.h"

namespace cairn::cli {
namespace {

using test::exists;
using test::read_text;
using test::write_file;

struct Machine {
  test::TempDir dir_;
  os::RealDisk real_;
};

class Install : public testing::Test, protected Machine, protected Host {
 protected:
  Install() : Host(real_, dir_ / "claude/settings.json") {}
  bool there() const { return exists(file_); }
  std::string install_error() {
    const Status status = install();
    return status.ok() ? "no error" : status.error().message;
  }
};

Json our_entry(const std::string& event) {
  Json hook = Json::object({{"type", "command"}, {"command", kHook}, {"args", Json::array({Json(event)})}});
  if (event != "SessionEnd") hook.set("timeout", 10);
  return hook;
}

constexpr std::string_view kRealistic = R"json({
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["Bash(git status)", "Read(~/notes/**)"],
    "deny": []
  },
  "env": { "GREETING": "grüß dich \u2713 日本" },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "~/bin/guard.sh", "timeout": 5 }
        ]
      },
      { "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "prettier --check" }] }
    ],
    "Stop": [],
    "WorktreeCreate": [{"hooks": [{"type": "command", "command": "make-tree"}]}]
  },
  "model": "opus"
})json";

TEST_F(Install, CreatesAFileThatRegistersEveryEventOnce) {
  ASSERT_TRUE(install().ok());
  const Json settings = json();
  EXPECT_EQ(hooks().events().size(), 17u);
  EXPECT_EQ(settings["hooks"].members().size(), 17u);
  for (const std::string& event : hooks().events())
    EXPECT_EQ(settings["hooks"][event],
              Json::array({Json::object({{"hooks", Json::array({our_entry(event)})}})}))
        << event;
  EXPECT_FALSE(settings["hooks"].has("WorktreeCreate"));
  EXPECT_EQ(text(), settings.dump(2) + "\n");
}

TEST_F(Install, WritesAPlainCommandLineForAnOldHost) {
  ASSERT_TRUE(install("/home/dev/my bin/it's/cairn-hook", false).ok());
  const Json stop = json()["hooks"]["Stop"].items()[0]["hooks"].items()[0];
  EXPECT_EQ(stop, Json::object({{"type", "command"},
                                {"command", "'/home/dev/my bin/it'\\''s/cairn-hook' Stop"},
                                {"timeout", 10}}));
  EXPECT_EQ(count_ours(json()), 17u);
  ASSERT_TRUE(install(kHook, false).ok());
  EXPECT_EQ(json()["hooks"]["SessionEnd"].items()[0]["hooks"].items()[0],
            Json::object({{"type", "command"}, {"command", std::string(kHook) + " SessionEnd"}}));
}

TEST_F(Install, ChangesNothingTheSecondTime) {
  write(kRealistic);
  ASSERT_TRUE(install().ok());
  const std::string once = text();
  EXPECT_FALSE(plan_install(hooks(), disk_, file_, {kHook, true})->changes());
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(text(), once);
  EXPECT_EQ(read_text(file_ + ".cairn-backup"), kRealistic);
}

TEST_F(Install, OnlyAddsLinesToARealisticFile) {
  write(kRealistic);
  ASSERT_TRUE(install().ok());
  const std::string diff = diff_text(std::string(kRealistic), text(), "settings.json");
  std::string removed;
  for (std::size_t at = diff.find("\n-"); at != std::string::npos; at = diff.find("\n-", at + 1))
    removed += diff.substr(at + 2, diff.find('\n', at + 1) - at - 1);
  // What is followed by something new now ends with a comma, and an empty array is opened.
  EXPECT_EQ(
      removed,
      "    \"allow\": [\"Bash(git status)\", \"Read(~/notes/**)\"],\n"
      "      { \"matcher\": \"Edit|Write\", \"hooks\": [{ \"type\": \"command\", \"command\": \"prettier "
      "--check\" }] }\n    \"Stop\": [],\n"
      "    \"WorktreeCreate\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"make-tree\"}]}]\n");
  EXPECT_EQ(json()["hooks"]["PreToolUse"].items().size(), 3u);
  EXPECT_EQ(count_ours(json()), 17u);
  EXPECT_EQ(text().back(), '}');
}

TEST_F(Install, GivesTheOriginalBytesBack) {
  for (const std::string_view original :
       {kRealistic, std::string_view("{}"), std::string_view("{}\n"), std::string_view("{ \t }\r\n"),
        std::string_view(""), std::string_view(" \n"), std::string_view("{\"hooks\":{}}"),
        std::string_view("{\"hooks\": { }, \"a\": 1}\n"), std::string_view("{\"hooks\":{\"Stop\":[]}}"),
        std::string_view("\xef\xbb\xbf{\r\n\t\"a\": 1\r\n}"), std::string_view("\xef\xbb\xbf"),
        std::string_view("{\n    \"hooks\": {\n    }\n}\n")}) {
    write(original);
    ASSERT_TRUE(install().ok()) << original;
    EXPECT_EQ(count_ours(Json::parse(text().substr(text().find('{'))).value_or(Json())), 17u) << original;
    ASSERT_TRUE(uninstall().ok()) << original;
    EXPECT_EQ(text(), original);
    EXPECT_FALSE(exists(file_ + ".cairn-backup"));
  }
}

TEST_F(Install, IsUndoneWithTheFileItCreated) {
  ASSERT_TRUE(install().ok());
  EXPECT_TRUE(exists(file_ + ".cairn-created"));
  EXPECT_EQ(read_text(file_ + ".cairn-created"), "");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_FALSE(there());
  EXPECT_FALSE(exists(file_ + ".cairn-created"));

  ASSERT_TRUE(install().ok());
  const std::string changed = "{\n  \"model\": \"opus\"," + text().substr(1);
  write(changed);
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\n  \"model\": \"opus\"\n}\n");
  EXPECT_FALSE(exists(file_ + ".cairn-created"));
}

TEST_F(Install, RemovesExactlyOursWhenSomethingElseChanged) {
  write(kRealistic);
  ASSERT_TRUE(install().ok());
  std::string changed = text();
  changed.replace(changed.find("\"opus\""), 6, "\"sonnet\"");
  write(changed);
  ASSERT_TRUE(uninstall().ok());
  std::string expected(kRealistic);
  expected.replace(expected.find("\"opus\""), 6, "\"sonnet\"");
  EXPECT_EQ(text(), expected);
}

TEST_F(Install, RemovesContainersThatOnlyItFilled) {
  write("{\n  \"model\": \"opus\"\n}\n");
  ASSERT_TRUE(install().ok());
  std::filesystem::remove(file_ + ".cairn-backup");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\n  \"model\": \"opus\"\n}\n");
}

TEST_F(Install, ReplacesAMovedBinaryWhereItStands) {
  write(
      R"({"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"/old/cairn-hook Stop"},{"type":"command","command":"b"}]}]}})");
  ASSERT_TRUE(install().ok());
  const Json stop = json()["hooks"]["Stop"];
  ASSERT_EQ(stop.items().size(), 1u);
  const auto& hooks = stop.items()[0]["hooks"].items();
  ASSERT_EQ(hooks.size(), 3u);
  EXPECT_EQ(hooks[0]["command"].as_string(), "a");
  EXPECT_EQ(hooks[1], our_entry("Stop"));
  EXPECT_EQ(hooks[2]["command"].as_string(), "b");
  EXPECT_EQ(count_ours(json()), 17u);
}

TEST_F(Install, ReducesDuplicatesAndMovesOutOfAMatcher) {
  write(R"({"hooks":{
    "Stop":[{"hooks":[{"command":"/a/cairn-hook","args":["Stop"]}]},{"hooks":[{"command":"/b/cairn-hook Stop"},{"command":"x"}]}],
    "PreToolUse":[{"matcher":"Bash","hooks":[{"command":"/a/cairn-hook","args":["PreToolUse"]}]}],
    "PostToolUse":[{"matcher":"*","hooks":[{"command":"/a/cairn-hook","args":["PostToolUse"]}]}],
    "WorktreeCreate":[{"hooks":[{"command":"/a/cairn-hook","args":["WorktreeCreate"]}]}]}})");
  ASSERT_TRUE(install().ok());
  const Json hooks = json()["hooks"];
  EXPECT_EQ(count_ours(json()), 17u);
  EXPECT_EQ(hooks["Stop"],
            Json::array({Json::object({{"hooks", Json::array({our_entry("Stop")})}}),
                         Json::object({{"hooks", Json::array({Json::object({{"command", "x"}})})}})}));
  EXPECT_EQ(hooks["PreToolUse"],
            Json::array({Json::object({{"hooks", Json::array({our_entry("PreToolUse")})}})}));
  EXPECT_EQ(hooks["PostToolUse"].items()[0]["hooks"].items()[0], our_entry("PostToolUse"));
  EXPECT_FALSE(hooks.has("WorktreeCreate"));
}

TEST_F(Install, KeepsTheBackupOfTheFirstInstall) {
  write("{\"a\": 1}");
  ASSERT_TRUE(install("/old/cairn-hook").ok());
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(read_text(file_ + ".cairn-backup"), "{\"a\": 1}");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\"a\": 1}");
}

TEST_F(Install, BacksUpAnewAfterTheEntriesWereRemovedByHand) {
  write("{\"a\": 1}");
  ASSERT_TRUE(install().ok());
  write("{\"a\": 2}");
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(read_text(file_ + ".cairn-backup"), "{\"a\": 2}");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\"a\": 2}");
}

TEST_F(Install, TakesItsEntriesOutWhateverTheBackupHolds) {
  write("{\"a\": 1}");
  ASSERT_TRUE(install().ok());
  write_file(file_ + ".cairn-backup", text());
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), "{\"a\": 1}");
}

TEST_F(Install, RefusesWhatItCannotReadAndSaysWhere) {
  const auto refuses = [&](std::string_view bad, std::string_view why) {
    write(bad);
    EXPECT_EQ(install_error(), file_ + ": " + std::string(why));
    EXPECT_EQ(text(), bad);
    EXPECT_FALSE(exists(file_ + ".cairn-backup"));
  };
  refuses("{\n  \"a\": 1,\n  // mine\n}", "line 3, column 3: a name in quotes is expected");
  refuses("[]", "line 1, column 1: the settings must be an object");
  refuses("{\n \"hooks\": []}", "line 2, column 11: `hooks` must be an object");
  refuses("{\"hooks\": null}", "line 1, column 11: `hooks` must be an object");
  refuses("{\"hooks\": {\"Stop\": {}}}", "line 1, column 20: `hooks.Stop` must be an array");
  write("{");
  EXPECT_EQ(plan_uninstall(hooks(), disk_, file_).error().code, Code::invalid);
}

TEST_F(Install, RefusesAProgramThatItWouldNotKnowAgain) {
  EXPECT_EQ(plan_install(hooks(), disk_, file_, {"/usr/bin/env", true}).error().code, Code::invalid);
  EXPECT_EQ(plan_install(hooks(), disk_, file_, {"bin/cairn-hook", true}).error().code, Code::invalid);
}

TEST_F(Install, LeavesStrangeGroupsOfOthersAlone) {
  const std::string strange =
      R"({"hooks":{"Stop":[1,"x",{"hooks":7},{"matcher":3,"hooks":[null,[],{}]}],"Other":"text"}})";
  write(strange);
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(json()["hooks"]["Stop"].items().size(), 5u);
  EXPECT_EQ(json()["hooks"]["Other"].as_string(), "text");
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), strange);
}

TEST_F(Install, IsBusyWhenTheFileChangedSinceThePlan) {
  write("{}");
  const InstallPlan plan = *plan_install(hooks(), disk_, file_, {kHook, true});
  write("{\"a\":1}");
  const Status status = apply_install(disk_, plan);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::busy);
  EXPECT_EQ(text(), "{\"a\":1}");
}

TEST_F(Install, KeepsTheModeAndFollowsSymbolicLinks) {
  const std::string target = dir_ / "dotfiles/claude.json";
  write_file(target, "{}\n");
  ASSERT_EQ(::chmod(target.c_str(), 0640), 0);
  std::filesystem::create_directories(dir_ / "claude");
  std::filesystem::create_symlink("../dotfiles/claude.json", file_);
  ASSERT_TRUE(install().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
  EXPECT_EQ(count_ours(Json::parse(read_text(target)).value_or(Json())), 17u);
  struct stat st {};
  ASSERT_EQ(::stat(target.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0640u);
  ASSERT_EQ(::stat((file_ + ".cairn-backup").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);  // settings may hold keys
  ASSERT_TRUE(uninstall().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
  EXPECT_EQ(read_text(target), "{}\n");
}

TEST_F(Install, WritesThroughALinkToNothing) {
  std::filesystem::create_directories(dir_ / "claude");
  std::filesystem::create_symlink(dir_ / "dotfiles/claude.json", file_);
  ASSERT_TRUE(install().ok());
  EXPECT_TRUE(exists(dir_ / "dotfiles/claude.json"));
  ASSERT_TRUE(uninstall().ok());
  EXPECT_FALSE(exists(dir_ / "dotfiles/claude.json"));
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
}

TEST_F(Install, LeavesNothingBehindButTheFileAndItsBackup) {
  write("{}");
  ASSERT_TRUE(install().ok());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir_ / "claude")) ++files;
  EXPECT_EQ(files, 2u);
}

TEST_F(Install, SaysWhatToDoWhenItMayNotWrite) {
  MemoryDisk disk;
  Host host(disk, file_);
  host.write("{}");
  disk.denied = true;
  const Status status = host.install();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::denied);
  EXPECT_NE(status.error().message.find(file_ + " cannot be written"), std::string::npos);
  EXPECT_EQ(host.text(), "{}");
}

TEST_F(Install, HasNothingToUndoWhereItNeverWas) {
  EXPECT_FALSE(plan_uninstall(hooks(), disk_, file_)->changes());
  ASSERT_TRUE(uninstall().ok());
  EXPECT_FALSE(there());
  write(kRealistic);
  ASSERT_TRUE(uninstall().ok());
  EXPECT_EQ(text(), kRealistic);
}

TEST(InstallNames, KnowOurCommandByItsProgram) {
  const auto runs_ours = [](const char* line) {
    return host::is_our_entry(Json::object({{"command", line}}));
  };
  for (const char* ours :
       {"cairn-hook", "/a/cairn-hook Stop", "'/a b/cairn-hook' Stop", "\"/a b/cairn-hook\" Stop",
        "/a\\ b/cairn-hook", "  cairn-hook;true", "CAIRN_HOME=/x HOME='/y z' /a/cairn-hook Stop",
        "${CLAUDE_PLUGIN_ROOT}/bin/cairn-hook Stop"})
    EXPECT_TRUE(runs_ours(ours)) << ours;
  for (const char* other : {"", "cairn", "/a/cairn-hook.sh", "/cairn-hook/run", "echo /a/cairn-hook",
                            "my-cairn-hook", "'/a b/cairn-hook x'", "A=cairn-hook"})
    EXPECT_FALSE(runs_ours(other)) << other;
  EXPECT_TRUE(host::is_our_entry(Json::object({{"command", "/a b/cairn-hook"}, {"args", Json::array()}})));
  EXPECT_FALSE(host::is_our_entry(
      Json::object({{"command", "echo"}, {"args", Json::array({Json("/a/cairn-hook")})}})));
  EXPECT_FALSE(host::is_our_entry(Json("cairn-hook")));
}

TEST(InstallNames, FollowTheHostsEnvironment) {
  ::setenv("CLAUDE_CONFIG_DIR", "/home/dev/cfg/", 1);
  EXPECT_EQ(*hooks().settings_file(), "/home/dev/cfg/settings.json");
  ::unsetenv("CLAUDE_CONFIG_DIR");
  const char* home = std::getenv("HOME");
  const std::string saved = home ? home : "/";
  ::setenv("HOME", "/home/dev", 1);
  EXPECT_EQ(*hooks().settings_file(), "/home/dev/.claude/settings.json");
  ::unsetenv("HOME");
  EXPECT_FALSE(hooks().settings_file().ok());
  ::setenv("HOME", saved.c_str(), 1);
}

}  // namespace
}  // namespace cairn::cli
