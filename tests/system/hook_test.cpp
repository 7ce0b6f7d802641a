// cairn-hook as a host calls it: whatever comes in, one answer, exit 0, nothing on stderr, and the event in
// the inbox.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "hook/failures.h"
#include "hook_fixture.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

#if defined(CAIRN_CHECKS_ADDRESSES) || defined(CAIRN_CHECKS_THREADS)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 54321;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

TEST_F(HookTest, DeliversWhatCameAndWhatOnlyItKnows) {
  Program p = program({"PostToolUse"}, R"({"tool_name":"Bash"})");
  for (const char* variable : {"CLAUDE_PROJECT_DIR=/home/dev/site", "CLAUDE_ENV_FILE=/home/dev/env.sh",
                               "CLAUDE_CONFIG_DIR=/home/dev/.claude", "CLAUDE_CODE_ENTRYPOINT=cli"})
    p.env.push_back(variable);
  expect_fixed(run(p));
  const std::string file = only_event();
  const auto decoded = hook::Envelope::decode(file);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->payload, R"({"tool_name":"Bash"})");
  const hook::Envelope& e = decoded->envelope;
  EXPECT_EQ(e.event, "PostToolUse");
  EXPECT_EQ(e.host, "claude-code");
  EXPECT_EQ(e.project_dir, "/home/dev/site");
  EXPECT_EQ(e.env_file, "/home/dev/env.sh");
  EXPECT_EQ(e.config_dir, "/home/dev/.claude");
  EXPECT_EQ(e.entrypoint, "cli");
  EXPECT_EQ(e.boot_id.size(), 32u);
  EXPECT_EQ(e.host_process.pid, getpid());
  EXPECT_TRUE(names("tmp").empty());
}

TEST_F(HookTest, SeesTheHostThroughTheShellThatCalledIt) {
  expect_fixed(run(shell("sh -c '\"$HOOK\" Stop; true'; true")));
  EXPECT_EQ(hook::Envelope::decode(only_event())->envelope.host_process.pid, getpid());
}

TEST_F(HookTest, RecordsTheHostFromItsArgument) {
  const Outcome outcome = run(program({"--host", "codex", "Stop"}));
  EXPECT_EQ(outcome.out, "{}\n");  // its own answer
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(hook::Envelope::decode(only_event())->envelope.host, "codex");
}

TEST_F(HookTest, AnswersAndKeepsWhateverComesIn) {
  const std::string inputs[] = {"",
                                "\n",
                                "null",
                                "{\"a\":\"trunca",
                                std::string("\0\xff\xfe{", 4),
                                pattern(300'000),
                                std::string(100'000, '[')};
  for (const std::string& input : inputs) {
    expect_fixed(run(program({"PostToolUse"}, input)));
    const std::string file = only_event();
    const auto decoded = hook::Envelope::decode(file);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_TRUE(decoded->payload == input);
    ASSERT_EQ(unlink((home_.inbox() + "/new/" + names("new")[0]).c_str()), 0);
  }
}

TEST_F(HookTest, AcceptsOddArguments) {
  const std::vector<std::string> odd[] = {{"NoSuchEvent"},
                                          {""},
                                          {"--nonsense"},
                                          {"--host"},
                                          {"Stop", "Stop", "Stop"},
                                          {std::string(100'000, 'E')},
                                          {"a\nb \x01"}};
  for (const auto& arguments : odd) expect_fixed(run(program(arguments)));
  EXPECT_EQ(names("new").size(), std::size(odd));
  for (const std::string& name : names("new"))
    EXPECT_TRUE(hook::Envelope::decode(read_text(home_.inbox() + "/new/" + name)).ok());
}

TEST_F(HookTest, KeepsSixtyFourMegabytesWholeInLittleMemory) {
  const std::string input = pattern(64u << 20);
  // 4 MB of address space, which bounds what can be resident; a sanitizer's shadow alone is larger.
  expect_fixed(run(shell(
      kSanitized ? "exec \"$HOOK\" PostToolUse" : "ulimit -v 4096; exec \"$HOOK\" PostToolUse", input)));
  const std::string file = only_event();
  const auto decoded = hook::Envelope::decode(file);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_FALSE(decoded->envelope.cut());
  EXPECT_TRUE(decoded->payload == input);
}

TEST_F(HookTest, CutsWhatIsLongerToItsHeadAndTail) {
  const std::string input = pattern(70u << 20);
  expect_fixed(run(shell(
      kSanitized ? "exec \"$HOOK\" PostToolUse" : "ulimit -v 4096; exec \"$HOOK\" PostToolUse", input)));
  const std::string file = only_event();
  const auto decoded = hook::Envelope::decode(file);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->envelope.head_bytes, 1u << 20);
  EXPECT_EQ(decoded->envelope.total_bytes, input.size());
  EXPECT_TRUE(decoded->payload == input.substr(0, 1u << 20) + input.substr(input.size() - (64u << 10)));
}

TEST_F(HookTest, DeliversNothingWhenDisabled) {
  for (const char* variable : {"CAIRN_DISABLE=1", "CAIRN_DISABLE=yes", "CAIRN_AGENT=1"}) {
    Program p = program({"SessionStart"}, pattern(300'000));
    p.env.push_back(variable);
    expect_fixed(run(p));
    EXPECT_FALSE(exists(home_.data)) << variable;
  }
  Program p = program({"Stop"});
  p.env.push_back("CAIRN_DISABLE=0");
  expect_fixed(run(p));
  EXPECT_EQ(names("new").size(), 1u);
}

TEST_F(HookTest, DeliversNothingWhileCaptureIsOff) {
  provide_cairn("echo x >> \"$CAIRN_HOME/starts\"");
  set_flags({.capture = false});
  for (const char* event : {"SessionStart", "PostToolUse"}) expect_fixed(run(program({event})));
  EXPECT_TRUE(names("new").empty());
  EXPECT_FALSE(exists(home_.start()));
}

TEST_F(HookTest, UsesTheDefaultsWhenTheFlagsAreDamaged) {
  write_file(home_.flags(), "capture=off");
  expect_fixed(run(program({"Stop"})));
  EXPECT_EQ(names("new").size(), 1u);
}

TEST_F(HookTest, DeliversWithSyncToDisk) {
  set_flags({.sync = hook::Flags::Sync::disk});
  expect_fixed(run(program({"Stop"})));
  EXPECT_TRUE(hook::Envelope::decode(only_event()).ok());
}

TEST_F(HookTest, AnswersWhereTheHomeCannotBeWritten) {
  write_file(dir_ / "file", "");
  for (const std::string& home :
       {dir_ / "file/home", std::string("/dev/null/home"), std::string("/proc/cairn"),
        std::string("relative/home"), "/" + std::string(5000, 'h')}) {
    for (const char* event : {"PostToolUse", "SessionStart", "UserPromptSubmit"}) {
      Program p = program({event}, pattern(300'000));
      p.env[0] = "CAIRN_HOME=" + home;
      p.cwd = dir_.path();
      std::string_view(event) == "SessionStart" ? expect_broken(run(p), "not recording: ")
                                                : expect_fixed(run(p));
      unlink(hook::Home::at(home).failed_outside().c_str());
    }
  }
  EXPECT_FALSE(exists(dir_ / "relative"));
}

TEST_F(HookTest, PrintsNothingForACompactionWhateverHappens) {
  const auto expect_nothing = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "");
  };
  for (const std::string event : {"PreCompact", "PostCompact"}) {
    expect_nothing(run(program({event})));
    expect_nothing(run(program({}, R"({"session_id":"s","hook_event_name":")" + event + "\"}")));
    Program p = program({event});
    p.env.push_back("CAIRN_DISABLE=1");
    expect_nothing(run(p));
    p = program({event});
    p.env[0] = "CAIRN_HOME=/dev/null/home";
    expect_nothing(run(p));
  }
  EXPECT_EQ(names("new").size(), 4u) << "they are delivered like all others";
  set_flags({.capture = false});
  expect_nothing(run(program({"PreCompact"})));
}

TEST_F(HookTest, AnswersWithoutAHome) {
  Program p = program({"PostToolUse"});
  p.env = {"PATH=/usr/bin:/bin"};
  expect_fixed(run(p));
  p.env = {};
  expect_fixed(run(p));
  p = program({"SessionStart"});
  p.env = {"PATH=/usr/bin:/bin"};
  expect_broken(run(p), "not recording: HOME is not an absolute path");
}

TEST_F(HookTest, AnswersWhenAFileMayNotGrowAndLeavesANote) {
  expect_fixed(run(program({"Stop"})));
  expect_fixed(run(shell("ulimit -f 64; exec \"$HOOK\" PostToolUse", pattern(300'000))));
  EXPECT_EQ(names("new").size(), 1u);
  EXPECT_TRUE(names("tmp").empty());
  const std::string word = read_text(home_.inbox() + "/failed");
  EXPECT_NE(word.find(" PostToolUse - "), std::string::npos) << word;
  EXPECT_NE(word.find("File too large"), std::string::npos) << word;
  EXPECT_TRUE(word.ends_with("\n"));
}

TEST_F(HookTest, NotesOutsideTheHomeWhatItCannotNoteThere) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "there is no /dev/shm here";
  write_file(home_.inbox() + "/new", "a file where the directory should be");
  ASSERT_TRUE(os::RealDisk().make_dir(home_.failed()).ok());
  expect_broken(run(program({"SessionStart"}, R"({"session_id":"abc-1"})")), "not recording: ");
  expect_fixed(run(program({"Stop"}, R"({"session_id":"abc-1"})")));
  os::RealDisk disk;
  const auto failures = hook::read_failures(disk, home_);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_GT(failures[0].at_ms, 1'000'000'000'000);
  EXPECT_EQ(failures[0].event, "SessionStart");
  EXPECT_EQ(failures[1].event, "Stop");
  EXPECT_EQ(failures[1].session, "abc-1");
  EXPECT_NE(failures[1].why.find("inbox/new"), std::string::npos) << failures[1].why;
}

TEST_F(HookTest, KeepsTheFileOfFailuresSmall) {
  write_file(home_.inbox() + "/new", "a file where the directory should be");
  write_file(home_.inbox() + "/failed", std::string(64u << 10, '\n'));
  expect_fixed(run(program({"Stop"})));
  EXPECT_EQ(read_text(home_.inbox() + "/failed").size(), 64u << 10);
}

TEST_F(HookTest, AnswersWhenTheDiskIsFull) {
  const std::string disk = dir_ / "disk";
  ASSERT_TRUE(os::RealDisk().make_dir(disk).ok());
  const std::string mounted = "mount -t tmpfs -o size=64k none " + disk + " && ";
  if (!run(shell("unshare -rm sh -c '" + mounted + "true'")).ok())
    GTEST_SKIP() << "no file system can be mounted here";
  Program p =
      shell("exec unshare -rm sh -c '" + mounted + "\"$HOOK\" PostToolUse && ! ls " + disk + "/inbox/*/*'",
            pattern(300'000));
  p.env[0] = "CAIRN_HOME=" + disk;
  const Outcome outcome = run(p);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_EQ(outcome.out, kFixedLine);
}

TEST_F(HookTest, AnswersWithItsDescriptorsClosed) {
  expect_fixed(run(shell("exec \"$HOOK\" Stop <&-")));
  EXPECT_EQ(hook::Envelope::decode(only_event())->payload, "");
  expect_fixed(run(shell("exec \"$HOOK\" Stop 2>&-")));
  const Outcome silent = run(shell("exec \"$HOOK\" Stop >&-", "{\"kept\":1}"));
  EXPECT_EQ(silent.exit_code, 0) << silent.describe();
  EXPECT_EQ(silent.err, "");
  for (const std::string& name : names("new")) {
    const std::string file = read_text(home_.inbox() + "/new/" + name);
    EXPECT_TRUE(hook::Envelope::decode(file).ok()) << file;
  }
  EXPECT_EQ(names("new").size(), 3u);
}

TEST_F(HookTest, EndsNormallyWhenNobodyReadsItsAnswer) {
  const Outcome outcome = run(shell("{ \"$HOOK\" Stop; echo $? > " + (dir_ / "code") + "; } | true"));
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(wait_until([&] { return read_text(dir_ / "code") == "0\n"; }, 10s));
  expect_fixed(run(program({"Stop"})));
  const Outcome full = run(shell("exec \"$HOOK\" Stop > /dev/full"));
  EXPECT_EQ(full.exit_code, 0) << full.describe();
  EXPECT_EQ(full.err, "");
  EXPECT_EQ(names("new").size(), 3u);
}

TEST_F(HookTest, DoesNotWaitForEverForAHostThatNeverCloses) {
  Program p = program({"Stop"}, "{\"half\":");
  Background hook(p);
  const auto outcome = hook.wait(20s);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 0);
  EXPECT_EQ(outcome->out, kFixedLine);
  EXPECT_GE(outcome->elapsed, 4s);
  EXPECT_EQ(hook::Envelope::decode(only_event())->payload, "{\"half\":");
}

TEST_F(HookTest, HelpsAPersonInTwoLines) {
  for (const char* argument : {"--help", "-h", "--version"}) {
    const Outcome outcome = run(program({argument}));
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2) << outcome.out;
    EXPECT_NE(outcome.out.find("cairn-hook " CAIRN_VERSION), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_FALSE(exists(home_.data));
}

TEST_F(HookTest, HelpsOnATerminal) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) GTEST_SKIP() << "no terminals here";
  const Outcome outcome = run(shell(std::string("exec \"$HOOK\" Stop < ") + ptsname(terminal)));
  EXPECT_NE(outcome.out.find("usage: cairn-hook"), std::string::npos) << outcome.describe();
  EXPECT_EQ(outcome.exit_code, 0);
  close(terminal);
}

TEST_F(HookTest, KeepsEverythingPrivateWhateverTheUmask) {
  provide_cairn(":");
  expect_fixed(run(shell("umask 0; exec \"$HOOK\" Stop")));
  const auto mode = [](const std::string& path) {
    struct stat st {};
    EXPECT_EQ(stat(path.c_str(), &st), 0) << path;
    return st.st_mode & 0777;
  };
  for (const char* folder : {"", "/inbox", "/inbox/tmp", "/inbox/new"})
    EXPECT_EQ(mode(home_.data + folder), 0700u);
  EXPECT_EQ(mode(home_.inbox() + "/new/" + names("new")[0]), 0600u);
  EXPECT_EQ(mode(home_.start()), 0600u);
}

TEST_F(HookTest, StartsADaemonThatHoldsNothingOfTheHosts) {
  provide_cairn(
      "{ echo \"$@\"; pwd; env; for f in /proc/$$/fd/*; do readlink $f; done; } > \"$CAIRN_HOME/facts.tmp\"\n"
      "mv \"$CAIRN_HOME/facts.tmp\" \"$CAIRN_HOME/facts\"; exec sleep 60");
  Program p = program({"PostToolUse"});
  p.env.push_back("CLAUDE_CODE_SESSION_ID=secret");
  const Outcome outcome = run(p);
  expect_fixed(outcome);
  EXPECT_LT(outcome.elapsed, 10s) << "the host waits for its pipes to close";
  ASSERT_TRUE(wait_until([&] { return exists(home_.data + "/facts"); }, 10s));
  const std::string facts = read_text(home_.data + "/facts");
  EXPECT_TRUE(facts.starts_with("daemon run\n/\n")) << facts;
  EXPECT_NE(facts.find("CAIRN_HOME=" + home_.data), std::string::npos) << facts;
  for (const char* leaked : {"CLAUDE_CODE_SESSION_ID", "pipe:", "daemon.start", "inbox", "socket:"})
    EXPECT_EQ(facts.find(leaked), std::string::npos) << leaked << " in " << facts;
  for (const pid_t pid : processes_with_env("CAIRN_HOME=" + home_.data)) kill(pid, SIGKILL);
}

TEST_F(HookTest, DeliversEveryEventOfManyAtOnceAndStartsOneDaemon) {
  provide_cairn("echo x >> \"$CAIRN_HOME/starts\"");
  constexpr int kHooks = 50;
  std::vector<Outcome> outcomes(kHooks);
  {
    std::vector<std::jthread> hosts;
    for (Outcome& outcome : outcomes)
      hosts.emplace_back([&] { outcome = run(program({"PostToolUse"}, pattern(2000))); });
  }
  for (const Outcome& outcome : outcomes) expect_fixed(outcome);
  EXPECT_EQ(names("new").size(), std::size_t{kHooks});
  EXPECT_TRUE(names("tmp").empty());
  for (const std::string& name : names("new"))
    EXPECT_TRUE(hook::Envelope::decode(read_text(home_.inbox() + "/new/" + name)).ok());
  EXPECT_TRUE(wait_until([&] { return exists(home_.data + "/starts"); }, 10s));
  EXPECT_LE(read_text(home_.data + "/starts").size(), 2 * 2u) << "two starts at most";
}

}  // namespace
}  // namespace cairn::test
