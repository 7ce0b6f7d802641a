// What the machine around cairn may try, and what cairn must leave alone.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "base/ids.h"
#include "home_fixture.h"

namespace cairn::test {
namespace {

class SecurityTest : public HomeTest {
 protected:
  // Every file below `root` with its bytes and its time.
  static std::map<std::string, std::string> tree(const std::string& root) {
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      struct stat st {};
      lstat(entry.path().c_str(), &st);
      out[entry.path().string()] = std::to_string(st.st_mode) + " " + std::to_string(st.st_mtim.tv_sec) +
                                   "." + std::to_string(st.st_mtim.tv_nsec) + " " +
                                   (entry.is_regular_file() ? read_text(entry.path().string()) : "");
    }
    return out;
  }
  Outcome shell(const std::string& script) {
    Program p = program("cairn", {});
    p.argv = {"/bin/sh", "-c", script};
    p.env.push_back("CAIRN=" + bin_ + "/cairn");
    p.env.push_back("HOOK=" + bin_ + "/cairn-hook");
    return run(p);
  }
};

TEST_F(SecurityTest, AnOpenUmaskOpensNothing) {
  const Outcome outcome = shell(
      "umask 0; printf '%s' '" + payload("s1", Json::object({{"prompt", "hello"}})) +
      "' | \"$HOOK\" UserPromptSubmit && \"$CAIRN\" process --wait && \"$CAIRN\" config set log.level info");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home_.data)) {
    struct stat st {};
    ASSERT_EQ(lstat(entry.path().c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, S_ISDIR(st.st_mode) ? 0700u : 0600u) << entry.path();
    ++seen;
  }
  EXPECT_GT(seen, 8u);
}

TEST_F(SecurityTest, AStrangeFileInTheInboxHoldsNobodyUpAndNothingElseIsTouched) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  const std::string box = home_.inbox() + "/new/", outside = dir_ / "outside.txt", twin = dir_ / "twin.txt";
  write_file(outside, "precious quokka");
  write_file(twin, "twin");
  ASSERT_EQ(mkfifo((box + random_hex(16)).c_str(), 0600), 0);
  std::filesystem::create_directory(box + random_hex(16));
  std::filesystem::create_directory(box + "a directory");
  for (const std::string name : {"a b", "-rf", "x\ny", "\x1b[2J", "..."})
    write_file(box + name, "strange, password=kX9-vQ27-zebra\n");
  write_file(box + std::string(255, 'n'), "strange");
  for (const std::string& name : {random_hex(16), std::string("link")}) {
    std::filesystem::create_symlink(outside, box + name);
    std::filesystem::create_hard_link(twin, box + name + "x");
  }
  std::filesystem::create_symlink("/dev/zero", box + random_hex(16));
  play_session("s1", "a prompt behind all that", "a.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"sessions", "list", "--all"})["sessions"].items().size(), 1u);
  EXPECT_NE(cairn({"context"}).out.find("a prompt behind all that"), std::string::npos);
  EXPECT_EQ(json({"status"})["inbox"].as_int(), 0);
  EXPECT_EQ(read_text(outside), "precious quokka");
  EXPECT_EQ(read_text(twin), "twin");
  EXPECT_EQ(log().find('\x1b'), std::string::npos);
  std::string all;
  for (const auto& [path, text] : tree(home_.data)) all += path + "\n" + text + "\n";
  EXPECT_EQ(all.find("quokka"), std::string::npos) << "a link was followed";
  EXPECT_EQ(all.find("zebra"), std::string::npos) << "what was put aside was not cleaned";
  EXPECT_NE(all.find("strange, password="), std::string::npos);
  EXPECT_EQ(all.find("-rf"), std::string::npos);
}

TEST_F(SecurityTest, TheRepositoryIsTheSameAfterManySessions) {
  write_file(project_ + "/.git/HEAD", "ref: refs/heads/main\n");
  write_file(project_ + "/.git/config", "[core]\n");
  write_file(project_ + "/src/main.c", "int main(void) { return 0; }\n");
  const auto before = tree(project_);
  const int sessions = std::getenv("CAIRN_FULL") ? 1000 : 20;
  for (int i = 0; i < sessions; ++i)
    play_session("s" + std::to_string(i), "prompt " + std::to_string(i), "src/main.c");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"status"})["ledger"]["gap"].as_int(), 0);
  EXPECT_EQ(tree(project_), before);
}

TEST_F(SecurityTest, WorksWhereThereIsNoNetwork) {
  const Outcome allowed = shell("unshare -n true || unshare -rn true");
  if (allowed.exit_code != 0) GTEST_SKIP() << "SKIP: this machine lets nobody make a network namespace";
  const std::string alone = shell("unshare -n true").exit_code == 0 ? "unshare -n" : "unshare -rn";
  // Nothing but Unix sockets is ever asked for; without strace it is only shown that none is needed.
  const bool traced = shell("command -v strace").exit_code == 0;
  const std::string trace = traced ? "strace -f -qq -e trace=socket -o " + (dir_ / "trace") + " " : "";
  const Outcome outcome = shell(alone + " " + trace + "\"$CAIRN\" demo --home " + (dir_ / "demo"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  shell("CAIRN_HOME=" + (dir_ / "demo") + " \"$CAIRN\" daemon stop");
  const std::string calls = read_text(dir_ / "trace");
  for (const char* family : {"AF_INET", "AF_INET6", "AF_NETLINK"})
    EXPECT_EQ(calls.find(family), std::string::npos) << calls;
}

TEST_F(SecurityTest, TheDaemonGetsOnlyWhatItNeedsOfTheEnvironment) {
  const Outcome outcome = shell(
      "HUSH_TOKEN=x CLAUDE_CODE_SESSION_ID=y ANTHROPIC_CUSTOM=z; export HUSH_TOKEN CLAUDE_CODE_SESSION_ID; "
      "printf '%s' '" +
      payload("s1", Json::object({{"source", "startup"}})) + "' | \"$HOOK\" SessionStart");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.describe();
  ASSERT_TRUE(wait_until([this] { return daemons().size() == 1; }, 10s));
  const std::string environment = read_text("/proc/" + std::to_string(daemons()[0]) + "/environ");
  EXPECT_NE(environment.find("CAIRN_HOME="), std::string::npos);
  EXPECT_EQ(environment.find("HUSH_TOKEN"), std::string::npos);
  EXPECT_EQ(environment.find("CLAUDE_CODE_SESSION_ID"), std::string::npos);
}

TEST_F(SecurityTest, CaptureOffForAProjectKeepsItOutAndOnLetsItInAgain) {
  ASSERT_EQ(cairn({"capture", "off", "--project", project_}).exit_code, 0);
  EXPECT_FALSE(json({"capture", "status"})["captured"].as_bool());
  play_session("s1", "a hushed prompt", "a.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"sessions", "list", "--all"})["sessions"].items().size(), 0u);
  ASSERT_EQ(cairn({"capture", "on", "--project", project_}).exit_code, 0);
  play_session("s2", "a spoken prompt", "a.txt");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  EXPECT_EQ(json({"sessions", "list", "--all"})["sessions"].items().size(), 1u);
  const Outcome scan = cairn({"scan"});
  EXPECT_EQ(scan.exit_code, 0) << scan.describe();
}

TEST_F(SecurityTest, PolicySaysWhatWouldHappenAndShowsNoSecret) {
  const std::string secret = "gh" + std::string("p_") + "aB3" + random_hex(17);
  write_file(dir_ / "event.json", Json::object({{"hook_event_name", "PostToolUse"},
                                                {"session_id", "s"},
                                                {"cwd", project_},
                                                {"tool_name", "Bash"},
                                                {"tool_input", Json::object({{"command", "echo " + secret}})},
                                                {"tool_response", Json::object({{"stdout", "ok"}})}})
                                      .dump());
  const Outcome outcome = cairn({"policy", "explain", dir_ / "event.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_NE(outcome.out.find("github-token"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find(secret), std::string::npos);
  ASSERT_EQ(cairn({"config", "set", "capture.skip_tools", "Bash"}).exit_code, 0);
  EXPECT_EQ(json({"policy", "explain", dir_ / "event.json"})["reason"].as_string(),
            "capture.skip_tools \"Bash\"");
}

}  // namespace
}  // namespace cairn::test
