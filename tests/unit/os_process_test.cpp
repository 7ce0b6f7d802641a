#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "os/process.h"
#include "support/temp_dir.h"
#include "support/wait.h"

namespace cairn::os {
namespace {

using namespace std::chrono_literals;

// What nearest_host() says in a child of this process that first does `prepare`.
ProcessKey host_seen_by_child(const std::function<void()>& prepare) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    prepare();
    const ProcessKey key = nearest_host();
    _exit(write(ends[1], &key, sizeof key) == sizeof key ? 0 : 1);
  }
  close(ends[1]);
  ProcessKey key;
  EXPECT_EQ(read(ends[0], &key, sizeof key), ssize_t{sizeof key});
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return key;
}

// Forks twice, with the middle process named `name`, and continues in the grandchild.
void fork_below(const char* name) {
  prctl(PR_SET_NAME, name);
  const pid_t below = fork();
  if (below == 0) return;
  int status = 0;
  waitpid(below, &status, 0);
  _exit(0);
}

TEST(Process, FindsItsParentAsTheHost) {
  const ProcessKey key = host_seen_by_child([] {});
  EXPECT_EQ(key.pid, getpid());
  EXPECT_GT(key.start, 0u);
}

TEST(Process, LooksThroughShellsForTheHost) {
  const ProcessKey key = host_seen_by_child([] {
    fork_below("sh");
    fork_below("-bash");
    fork_below("busybox");
  });
  EXPECT_EQ(key.pid, getpid());
}

TEST(Process, AcceptsAnAncestorWhoseNameResemblesAShell) {
  const ProcessKey key = host_seen_by_child([] { fork_below("shell"); });
  EXPECT_NE(key.pid, getpid());
  EXPECT_NE(key.pid, 0);
}

TEST(Process, IsNotFooledByANameWithParentheses) {
  const ProcessKey plain = host_seen_by_child([] {});
  char old[16];
  prctl(PR_GET_NAME, old);
  prctl(PR_SET_NAME, "x) Z 1 (sh");
  const ProcessKey odd = host_seen_by_child([] {});
  const bool alive = RealProcesses().alive(odd);
  prctl(PR_SET_NAME, old);
  EXPECT_EQ(odd, plain);
  EXPECT_TRUE(alive);
}

TEST(Process, GivesUpAfterEightShells) {
  const ProcessKey key = host_seen_by_child([] {
    for (int i = 0; i < 8; ++i) fork_below("dash");
  });
  EXPECT_EQ(key, ProcessKey{});
}

TEST(Process, KnowsWhoIsAlive) {
  RealProcesses processes;
  const ProcessKey me = host_seen_by_child([] {});
  EXPECT_TRUE(processes.alive(me));
  EXPECT_TRUE(processes.alive({}));
  EXPECT_FALSE(processes.alive({me.pid, me.start + 1})) << "a later process of the same pid";
}

TEST(Process, CountsAZombieAndAReapedProcessAsDead) {
  RealProcesses processes;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t below = fork();
    if (below == 0) {
      const ProcessKey key = nearest_host();
      _exit(write(ends[1], &key, sizeof key) == sizeof key ? 0 : 1);
    }
    for (;;) pause();
  }
  ProcessKey key;
  ASSERT_EQ(read(ends[0], &key, sizeof key), ssize_t{sizeof key});
  EXPECT_EQ(key.pid, child);
  EXPECT_TRUE(processes.alive(key));
  kill(child, SIGKILL);
  EXPECT_TRUE(test::wait_until([&] { return !processes.alive(key); }, 10s)) << "a zombie";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(processes.alive(key));
  close(ends[0]);
  close(ends[1]);
}

TEST(Process, KnowsItsOwnExecutable) {
  EXPECT_TRUE(executable_path().ends_with("/os_test")) << executable_path();
}

TEST(Process, FindsAProgramOnPathButNotInARelativeEntry) {
  const std::string before = std::getenv("PATH") ? std::getenv("PATH") : "";
  const test::TempDir dir;
  const std::string program = dir.path() + "/a-program";
  ASSERT_EQ(symlink("/bin/sh", program.c_str()), 0);
  // A relative entry that leads to the same directory.
  std::string up;
  for (int i = 0; i < 64; ++i) up += "../";
  setenv("PATH", (up + dir.path().substr(1)).c_str(), 1);
  EXPECT_EQ(find_program("a-program"), "");
  setenv("PATH", (":" + up + ":" + dir.path()).c_str(), 1);
  EXPECT_EQ(find_program("a-program"), program);
  setenv("PATH", before.c_str(), 1);
}

TEST(Process, KeepsOfTheEnvironmentWhatTheDaemonNeeds) {
  const char* environment[] = {"HOME=/home/dev",
                               "PATH=/bin",
                               "LC_ALL=C",
                               "XDG_DATA_HOME=/x",
                               "CAIRN_HOME=/c",
                               "CAIRN_LOG_LEVEL=debug",
                               "https_proxy=p",
                               "ANTHROPIC_API_KEY=k",
                               "CAIRN_DISABLE=0",
                               "CAIRN_AGENT=1",
                               "CLAUDECODE=1",
                               "CLAUDE_CODE_SESSION_ID=s",
                               "CLAUDE_PROJECT_DIR=p",
                               "SECRET=s",
                               "HOMEBREW=1",
                               "no equals sign",
                               nullptr};
  const std::vector<std::string> kept = reduced_environment(const_cast<char**>(environment));
  EXPECT_EQ(kept, (std::vector<std::string>{"HOME=/home/dev", "PATH=/bin", "LC_ALL=C", "XDG_DATA_HOME=/x",
                                            "CAIRN_HOME=/c", "CAIRN_LOG_LEVEL=debug", "https_proxy=p",
                                            "ANTHROPIC_API_KEY=k"}));
}

TEST(Process, StartsADetachedProcessThatHoldsNothingOfItsParent) {
  const test::TempDir dir;
  const std::string script = dir / "child", facts = dir / "facts";
  test::write_file(script,
                   "#!/bin/sh\n{ pwd; for f in /proc/$$/fd/*; do readlink $f; done; env; echo \"arg $1\"; "
                   "cut -d' ' -f6 /proc/$$/stat; echo $$; grep SigIgn /proc/$$/status; } > " +
                       facts +
                       ".tmp\n"
                       "mv " +
                       facts + ".tmp " + facts + "\n");
  ASSERT_EQ(chmod(script.c_str(), 0700), 0);
  int leaked[2];
  ASSERT_EQ(pipe(leaked), 0);  // without O_CLOEXEC, as a host may leave one open
  const auto old = signal(SIGPIPE, SIG_IGN);
  const auto pid = spawn_detached(script, {"child", "one"}, {"PATH=/usr/bin:/bin", "ONLY=this"});
  signal(SIGPIPE, old);
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  waitpid(static_cast<pid_t>(*pid), nullptr, 0);
  const std::string text = test::read_text(facts);
  const std::string id = std::to_string(*pid);
  EXPECT_TRUE(text.starts_with("/\n")) << text;
  EXPECT_NE(text.find("/dev/null\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("pipe:"), std::string::npos) << text;
  EXPECT_NE(text.find("ONLY=this\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("HOME="), std::string::npos) << text;
  EXPECT_NE(text.find("arg one\n" + id + "\n" + id + "\n"), std::string::npos)
      << "leads its own session: " << text;
  const std::size_t ignored = text.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos) << text;
  EXPECT_EQ(std::stoull(text.substr(ignored + 8), nullptr, 16) >> (SIGPIPE - 1) & 1, 0u) << text;
  close(leaked[0]);
  close(leaked[1]);
}

TEST(Process, SaysThatAMissingProgramCannotBeStarted) {
  const test::TempDir dir;
  EXPECT_EQ(spawn_detached(dir / "none", {"none"}, {}).error().code, Code::not_found);
}

}  // namespace
}  // namespace cairn::os
