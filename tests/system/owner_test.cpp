// A home that is not wholly one's own: another user's directories and files in it, and links.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "home_fixture.h"
#include "hook/inbox.h"
#include "os/clock.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class OwnerTest : public HomeTest {
 protected:
  // A home that has worked, without its daemon.
  void make_used_home() {
    play_session("s0", "the first prompt", "a.txt");
    ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
    ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
    write_file(home_.socket(), "");
  }
  std::string at(const std::string& part) const {
    return part.empty() ? home_.data : home_.data + "/" + part;
  }

  // Leaves an event as a hook does.
  std::string deliver(const std::string& session, const std::string& prompt) {
    os::RealDisk disk;
    os::RealClock clock;
    hook::Envelope envelope;
    envelope.event = "UserPromptSubmit";
    envelope.host = "claude-code";
    std::string rest = payload(session, Json::object({{"prompt", prompt}}));
    const hook::Inbox::Source source = [&](char* to, std::size_t size) -> Result<std::size_t> {
      const std::size_t got = rest.copy(to, size);
      rest.erase(0, got);
      return got;
    };
    const auto id =
        hook::Inbox(disk, clock, home_.inbox()).deliver(envelope, source, hook::Flags::Sync::process);
    EXPECT_TRUE(id.ok());
    return home_.inbox() + "/new/" + id->value;
  }

  // No daemon and no command uses the home, and each says why. Hooks check the directories that they write
  // in.
  void expect_refused(const std::string& part, const std::string& why) {
    const bool hooks_check = part.empty() || part == "inbox" || part == "inbox/new" || part == "inbox/tmp";
    const std::size_t before = waiting();
    const Outcome answer = hook("PostToolUse", payload("s1"));
    EXPECT_EQ(waiting(), before + (hooks_check ? 0 : 1)) << part;
    EXPECT_EQ(answer.exit_code, 0) << part;
    EXPECT_EQ(answer.out, std::string(hook::kFixedAnswer) + "\n") << part;
    EXPECT_TRUE(wait_until([this] { return daemons().empty(); }, 5s)) << part;
    for (const char* command : {"status", "context", "config list", "logs"}) {
      const Outcome outcome = cairn(words(command));
      EXPECT_NE(outcome.exit_code, 0) << part;
      EXPECT_NE(outcome.err.find(at(part) + why), std::string::npos) << part << ": " << outcome.describe();
    }
    const Outcome daemon = cairn({"daemon", "run"});
    EXPECT_NE(daemon.exit_code, 0) << part;
    EXPECT_NE(cairn({"doctor"}).out.find(at(part) + why), std::string::npos) << part;
  }

  static std::vector<std::string> words(const std::string& text) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos) return {text};
    return {text.substr(0, blank), text.substr(blank + 1)};
  }
};

TEST_F(OwnerTest, WhatIsAnotherUsersIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "SKIP: only root can give a file away";
  make_used_home();
  for (const std::string part :
       {"", "inbox", "inbox/new", "inbox/tmp", "inbox/cur", "inbox/bad", "logs", "cairn.db", "key",
        "hook.flags", "daemon.lock", "daemon.start", "daemon.sock"}) {
    ASSERT_EQ(lchown(at(part).c_str(), kNobody, kNobody), 0) << part;
    expect_refused(part, " belongs to another user");
    ASSERT_EQ(lchown(at(part).c_str(), 0, 0), 0);
  }
  // The control: as it was, it works.
  EXPECT_NE(cairn({"context"}).out.find("the first prompt"), std::string::npos);
}

TEST_F(OwnerTest, AHookLeavesNothingInADirectoryOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "SKIP: only root can give a file away";
  make_used_home();
  for (const std::string part : {"", "inbox", "inbox/new", "inbox/tmp"}) {
    ASSERT_EQ(chown(at(part).c_str(), kNobody, kNobody), 0);
    hook("PostToolUse", payload("s1"));
    EXPECT_EQ(waiting(), 0u) << part;
    EXPECT_FALSE(exists(home_.inbox() + "/failed") && read_text(home_.inbox() + "/failed").find("Post") == 0);
    ASSERT_EQ(chown(at(part).c_str(), 0, 0), 0);
  }
}

TEST_F(OwnerTest, ALinkInPlaceOfAFileOfOursIsNotFollowed) {
  make_used_home();
  write_file(dir_ / "elsewhere", "precious");
  for (const std::string part : {"cairn.db", "key", "hook.flags", "daemon.lock", "daemon.start",
                                 "daemon.sock", "logs/daemon.log", "inbox/failed"}) {
    const bool was = exists(at(part));
    if (was) fs::rename(at(part), dir_ / "aside");
    fs::create_symlink(dir_ / "elsewhere", at(part));
    for (const char* command : {"status", "context"}) {
      const Outcome outcome = cairn({command});
      EXPECT_NE(outcome.err.find(at(part) + " is a link"), std::string::npos) << outcome.describe();
    }
    EXPECT_NE(cairn({"daemon", "run"}).exit_code, 0) << part;
    EXPECT_EQ(hook("PostToolUse", payload("s1")).exit_code, 0);
    EXPECT_TRUE(wait_until([this] { return daemons().empty(); }, 5s)) << part;
    EXPECT_EQ(read_text(dir_ / "elsewhere"), "precious") << part;
    fs::remove(at(part));
    if (was) fs::rename(dir_ / "aside", at(part));
  }
}

TEST_F(OwnerTest, AHomeMayStandBehindALinkOfOnesOwnButNotOfAnother) {
  make_used_home();
  for (const std::string part : {"", "inbox"}) {
    fs::rename(at(part), dir_ / "moved");
    fs::create_directory_symlink(dir_ / "moved", at(part));
    const std::string prompt = "told by link:" + part + ".";
    play_session("s-" + part, prompt, "a.txt");
    ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0) << part;
    const Outcome context = cairn({"context"});
    EXPECT_NE(context.out.find(prompt), std::string::npos) << context.describe();
    ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
    if (geteuid() == 0) {
      ASSERT_EQ(lchown(at(part).c_str(), kNobody, kNobody), 0);
      expect_refused(part, " belongs to another user");
      ASSERT_EQ(lchown(at(part).c_str(), 0, 0), 0);
      ASSERT_EQ(chown(at(part).c_str(), kNobody, kNobody), 0);  // where it points
      expect_refused(part, " belongs to another user");
      ASSERT_EQ(chown(at(part).c_str(), 0, 0), 0);
    }
    fs::remove(at(part));
    fs::rename(dir_ / "moved", at(part));
  }
}

TEST_F(OwnerTest, AnEventOfAnotherUserIsNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "SKIP: only root can give a file away";
  const std::string forged = deliver("s1", "a forged prompt");
  ASSERT_EQ(chown(forged.c_str(), kNobody, kNobody), 0);
  deliver("s2", "a prompt of ours");
  ASSERT_EQ(cairn({"process", "--wait"}).exit_code, 0);
  const Json sessions = json({"sessions", "list", "--all"})["sessions"];
  ASSERT_EQ(sessions.items().size(), 1u) << sessions.dump(1);
  EXPECT_EQ(sessions.dump().find("forged"), std::string::npos);
  EXPECT_NE(log().find("it belongs to another user"), std::string::npos) << log();
  EXPECT_EQ(waiting(), 0u);
  EXPECT_EQ(json({"status"})["ledger"]["counted"].dump(), R"({"bad":1})");
  const std::string quarantined = home_.inbox() + "/bad/" + fs::path(forged).filename().string();
  EXPECT_TRUE(exists(quarantined));
  EXPECT_EQ(read_text(quarantined), "") << "unread";
}

TEST_F(OwnerTest, TheDaemonAndInstallCloseTheHomeToOthers) {
  fs::create_directories(home_.data);
  const std::string host = "CLAUDE_CONFIG_DIR=" + dir_ / "host";
  for (const mode_t mode : {0777u, 0755u, 0710u}) {
    ASSERT_EQ(chmod(home_.data.c_str(), mode), 0);
    const Outcome done =
        mode == 0755 ? run(program("cairn", {"install"}, {host})) : cairn({"daemon", "start"});
    ASSERT_EQ(done.exit_code, 0) << done.describe();
    struct stat st {};
    ASSERT_EQ(stat(home_.data.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777, 0700u);
    ASSERT_EQ(cairn({"daemon", "stop"}).exit_code, 0);
  }
}

TEST_F(OwnerTest, ADirectoryThatEverybodyWritesInIsNoHome) {
  fs::create_directories(home_.data);
  ASSERT_EQ(chmod(home_.data.c_str(), 01777), 0);
  expect_refused("", " is open to everybody");
  EXPECT_FALSE(exists(home_.inbox()));
}

}  // namespace
}  // namespace cairn::test
