#include "system/cli_home.h"

namespace cairn::test {
namespace {

class Install : public CliHome {
 protected:
  std::string settings() const { return claude() + "/settings.json"; }
};

constexpr std::string_view kTheirs =
    "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [{ \"hooks\": [{ \"type\": \"command\", "
    "\"command\": \"say done\" }] }]\n\t}\n}\n";

TEST_F(Install, RegistersTwiceAndChangesNothingTheSecondTime) {
  write_file(settings(), kTheirs);
  const Outcome first = cairn({"install"});
  ASSERT_EQ(first.exit_code, 0) << first.describe();
  EXPECT_EQ(first.out.find("adds 17 hooks to " + settings() + "\n"), 0u) << first.out;
  EXPECT_EQ(first.out.find("\n+"), std::string::npos) << "the diff is for those who ask: " << first.out;
  const std::string once = read_text(settings());
  EXPECT_NE(once.find(kHook), std::string::npos);
  EXPECT_NE(once.find("say done"), std::string::npos);
  const Outcome second = cairn({"install", "--yes"});
  ASSERT_EQ(second.exit_code, 0);
  EXPECT_NE(second.out.find("already"), std::string::npos) << second.out;
  EXPECT_EQ(read_text(settings()), once);
}

TEST_F(Install, GivesTheBytesBackAndKeepsTheData) {
  write_file(settings(), kTheirs);
  ASSERT_EQ(cairn({"install"}).exit_code, 0);
  play_session();
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const Outcome outcome = cairn({"uninstall"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_EQ(read_text(settings()), kTheirs);
  EXPECT_NE(outcome.out.find(home()), std::string::npos) << "says where the data is";
  EXPECT_TRUE(exists(home() + "/cairn.db"));
  EXPECT_EQ(cairn({"daemon", "status"}).exit_code, 3);
  EXPECT_EQ(cairn({"uninstall"}).exit_code, 0) << "twice is as good as once";
  EXPECT_EQ(json({"sessions", "list"})["sessions"].items().size(), 1u);
}

TEST_F(Install, LeavesNoFileWhereThereWasNone) {
  ASSERT_EQ(cairn({"install"}).exit_code, 0);
  EXPECT_TRUE(exists(settings()));
  EXPECT_TRUE(exists(claude() + "/.claude.json"));
  ASSERT_EQ(cairn({"uninstall"}).exit_code, 0);
  EXPECT_FALSE(exists(settings()));
  EXPECT_FALSE(exists(claude() + "/.claude.json"));
}

TEST_F(Install, RegistersTheAgentsToolsAndGivesThatFileBackToo) {
  const std::string servers = claude() + "/.claude.json";
  const std::string theirs = "{\n  \"numStartups\": 3,\n  \"mcpServers\": {}\n}";
  write_file(settings(), kTheirs);
  write_file(servers, theirs);
  const Outcome outcome = cairn({"install"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_NE(outcome.out.find("adds the agent's tools to " + servers), std::string::npos) << outcome.out;
  const Json entry = Json::parse(read_text(servers)).value_or(Json())["mcpServers"]["cairn"];
  EXPECT_EQ(entry["command"].as_string(), kCairn);
  EXPECT_NE(read_text(settings()).find("mcp__cairn__search"), std::string::npos);
  const std::string once = read_text(servers);
  ASSERT_EQ(cairn({"install"}).exit_code, 0);
  EXPECT_EQ(read_text(servers), once);
  ASSERT_EQ(cairn({"uninstall"}).exit_code, 0);
  EXPECT_EQ(read_text(servers), theirs);
  EXPECT_EQ(read_text(settings()), kTheirs);
  EXPECT_FALSE(exists(servers + ".cairn-backup"));
}

TEST_F(Install, OnlyShowsInADryRun) {
  write_file(settings(), kTheirs);
  const Outcome outcome = cairn({"install", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("SessionStart"), std::string::npos);
  EXPECT_EQ(read_text(settings()), kTheirs);
  const Json result = json({"install", "--dry-run"});
  EXPECT_TRUE(result["changed"].as_bool());
  EXPECT_EQ(result["hook"].as_string(), kHook);
  EXPECT_EQ(result["events"].items().size(), 17u);
}

TEST_F(Install, ShowsTheDiffToThoseWhoAsk) {
  write_file(settings(), kTheirs);
  EXPECT_NE(cairn({"install", "-v"}).out.find("\n+"), std::string::npos);
  const std::string with_hooks = read_text(settings());
  const Outcome dry = cairn({"uninstall", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.describe();
  EXPECT_EQ(dry.out.find("removes 17 hooks from " + settings() + "\n"), 0u) << dry.out;
  EXPECT_NE(dry.out.find("\n-"), std::string::npos) << dry.out;
  EXPECT_EQ(read_text(settings()), with_hooks);
  const Outcome gone = cairn({"uninstall", "-v"});
  EXPECT_NE(gone.out.find("\n-"), std::string::npos) << gone.out;
  EXPECT_EQ(cairn({"uninstall"}).out.find("no hooks of cairn in " + settings()), 0u);
}

TEST_F(Install, SaysWhatStaysAndHowToRemoveIt) {
  ASSERT_EQ(cairn({"install"}).exit_code, 0);
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  write_file(dir_ / ".local/state/cairn-demo/cairn.db", "demo");
  const Outcome outcome = cairn({"uninstall"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  for (const std::string& words :
       {"rm " + kCairn + " " + kHook, "rm -r " + (dir_ / ".local/state/cairn-demo"),
        std::string("cairn uninstall --purge")})
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " in\n" << outcome.out;
}

TEST_F(Install, RestoresCompletionsAndTheManualPage) {
  // A copy, so that share/man beside bin is the test's own.
  std::filesystem::create_directories(dir_ / "prefix/bin");
  for (const char* name : {"cairn", "cairn-hook"})
    std::filesystem::copy_file(std::string(CAIRN_BIN_DIR "/") + name,
                               dir_ / ("prefix/bin/" + std::string(name)));
  const std::string mine = dir_ / "prefix/bin/cairn", page = dir_ / "prefix/share/man/man1/cairn.1";
  EXPECT_EQ(call(mine, {"install", "--dry-run"}).exit_code, 0);
  EXPECT_FALSE(exists(page));
  const Outcome installed = call(mine, {"install"});
  EXPECT_EQ(installed.exit_code, 0) << installed.describe();
  EXPECT_TRUE(exists(page)) << installed.out;
  EXPECT_EQ(call(mine, {"uninstall"}).exit_code, 0);
  EXPECT_FALSE(exists(page));
  EXPECT_EQ(call(mine, {"install"}).exit_code, 0);
  EXPECT_TRUE(exists(page));
}

TEST_F(Install, RefusesSettingsThatAreNotJson) {
  write_file(settings(), "{ \"hooks\": ");
  const Outcome outcome = cairn({"install"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.describe();
  EXPECT_NE(outcome.err.find("line 1, column"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_text(settings()), "{ \"hooks\": ");
}

TEST_F(Install, SaysSoWhenTheHookProgramIsMissing) {
  const std::string alone = dir_ / "bin/cairn";
  std::filesystem::create_directories(dir_ / "bin");
  std::filesystem::copy_file(kCairn, alone);
  const Outcome outcome = call(alone, {"install"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.describe();
  EXPECT_NE(outcome.err.find("cairn-hook"), std::string::npos);
  EXPECT_FALSE(exists(settings()));
}

TEST_F(Install, PurgesOnlyOnRequest) {
  ASSERT_EQ(cairn({"install"}).exit_code, 0);
  play_session();
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  write_file(home() + "/cairn.db.damaged-20261115T233141Z", "what was remembered\n");
  const Outcome asked = cairn({"uninstall", "--purge"});
  EXPECT_EQ(asked.exit_code, 2) << asked.describe();
  EXPECT_NE(asked.err.find("--yes"), std::string::npos);
  EXPECT_TRUE(exists(home() + "/cairn.db"));
  EXPECT_TRUE(exists(settings())) << "nothing is changed before the answer";
  const Outcome purged = cairn({"uninstall", "--purge", "--yes"});
  EXPECT_EQ(purged.exit_code, 0) << purged.describe();
  EXPECT_FALSE(exists(home()));
  EXPECT_FALSE(exists(settings()));
}

// What an import, a provider, an editor and an interrupted write leave in a home.
TEST_F(Install, PurgesEverythingThatCairnCreatesInAHome) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  for (const char* name : {"/imports/7.db", "/agent/tmp/notes", "/edit-4711.txt", "/key.new",
                           "/cairn.db.damaged-20261115T233141Z", "/archive/0123456789abcdef-1.1.zst"})
    write_file(home() + name, "what was remembered\n");
  const Outcome purged = cairn({"uninstall", "--purge", "--yes"});
  EXPECT_EQ(purged.exit_code, 0) << purged.describe();
  EXPECT_EQ(purged.out.find("did not create"), std::string::npos) << purged.out;
  EXPECT_FALSE(exists(home()));
}

TEST_F(Install, SparesFilesOfOthersWhenPurgingAndNamesThem) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  for (const char* name : {"/thesis.txt", "/keys/mine", "/edit-mine.txt"})
    write_file(home() + name, "years of work\n");
  const Outcome purged = cairn({"uninstall", "--purge", "--yes"});
  EXPECT_EQ(purged.exit_code, 0) << purged.describe();
  for (const char* name : {"/thesis.txt", "/keys/mine", "/edit-mine.txt"})
    EXPECT_EQ(read_text(home() + name), "years of work\n") << name;
  for (const char* name : {"/thesis.txt", "/keys", "/edit-mine.txt"})
    EXPECT_NE(purged.out.find("stays: " + home() + name + ": cairn did not create it"), std::string::npos)
        << purged.out;
  EXPECT_FALSE(exists(home() + "/cairn.db"));
  EXPECT_EQ(json({"uninstall", "--purge", "--yes"})["left"].items().size(), 3u);
}

}  // namespace
}  // namespace cairn::test
