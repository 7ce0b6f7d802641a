#include "support/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>

#include "support/networks.h"
#include "support/temp_dir.h"
#include "support/wait.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

Program shell(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)}};
}

TEST(Run, GivesTheExitCodeAndBothStreams) {
  const Outcome outcome = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_FALSE(outcome.pipes_held);
}

TEST(Networks, AnAttemptOfAProgramOfOursIsRefusedAndNoted) {
  if (!watch_networks()) GTEST_SKIP() << "SKIP: the kernel does not report system calls here";
  const TempDir dir("networks");
  const std::string ours = dir / "cairn-control";
  std::filesystem::copy_file("/bin/bash", ours);
  const std::string ask = "exec 3<>/dev/tcp/127.0.0.1/9";
  EXPECT_FALSE(run({.argv = {ours, "-c", ask}}).ok());
  // A test program that left it so would fail.
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(97), "");
  const std::vector<std::string> noted = take_network_attempts();
  ASSERT_EQ(noted.size(), 1u);
  EXPECT_EQ(noted[0], ours + " asked for a socket of family 2");
  // Also one that was started by another, and has left its group.
  run(shell("setsid " + ours + " -c '" + ask + "' & wait"));
  EXPECT_EQ(take_network_attempts().size(), 1u);
  run({.argv = {"/bin/bash", "-c", ask}});
  EXPECT_EQ(take_network_attempts().size(), 0u) << "what is not ours goes on";
}

TEST(Run, PassesMegabytesThroughWithoutADeadlock) {
  Program program = shell("tee /dev/stderr");
  program.input.assign(5 << 20, 'x');
  const Outcome outcome = run(program);
  EXPECT_EQ(outcome.out.size(), program.input.size());
  EXPECT_EQ(outcome.err.size(), program.input.size());
}

TEST(Run, SurvivesAProgramThatLeavesItsInputUnread) {
  Program program = shell("exit 0");
  program.input.assign(5 << 20, 'x');
  EXPECT_TRUE(run(program).ok());
}

TEST(Run, KillsTheWholeGroupAtTheTimeout) {
  Program program = shell("sleep 1117 & sleep 1117; echo never");
  program.timeout = 200ms;
  const Outcome outcome = run(program);
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(wait_until([] { return processes_with("sleep 1117").empty(); }, 2s));
}

TEST(Run, SaysWhenAnotherProcessHoldsThePipes) {
  const Outcome held = run(shell("sleep 0.4 & exit 0"));
  EXPECT_TRUE(held.pipes_held);
  EXPECT_EQ(held.exit_code, 0);
  EXPECT_FALSE(held.timed_out);
  EXPECT_FALSE(run(shell("sleep 0.4 </dev/null >/dev/null 2>&1 & exit 0")).pipes_held);
}

TEST(Run, SaysWhyAProgramCannotBeStarted) {
  const Outcome outcome = run({.argv = {"/no/such/program"}});
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_NE(outcome.err.find("No such file"), std::string::npos);
}

TEST(Run, GivesExactlyTheCleanEnvironmentAndDirectory) {
  TempDir dir;
  const Outcome outcome = run({.argv = {"sh", "-c", "pwd; env"},
                               .env = {"PATH=/usr/bin:/bin", "A=b"},
                               .clean_env = true,
                               .cwd = dir.path()});
  EXPECT_EQ(outcome.out.find(dir.path() + "\n"), 0u);
  EXPECT_NE(outcome.out.find("A=b\n"), std::string::npos);
  EXPECT_EQ(outcome.out.find("HOME="), std::string::npos);
}

TEST(Background, KeepsItsInputOpenUntilClosedAndIsReaped) {
  Background cat({.argv = {"cat"}, .input = "hello"});
  EXPECT_TRUE(wait_until([&] { return cat.out() == "hello"; }, 2s));
  EXPECT_TRUE(cat.running());
  cat.close_input();
  const auto outcome = cat.wait(2s);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->ok());
  EXPECT_EQ(outcome->out, "hello");
  EXPECT_FALSE(is_running(cat.pid()));
}

TEST(Background, TakesItsGroupWithItWhenDestroyed) {
  {
    Background sleeper(shell("sleep 1118 & sleep 1118"));
    EXPECT_TRUE(wait_until([] { return processes_with("sleep 1118").size() >= 2; }, 2s));
    EXPECT_FALSE(sleeper.wait(10ms));
  }
  EXPECT_TRUE(wait_until([] { return processes_with("sleep 1118").empty(); }, 2s));
}

TEST(Processes, AreFoundByAnAssignmentInTheirEnvironment) {
  Background sleeper({.argv = {"sleep", "100"}, .env = {"CAIRN_TEST_MARK=here"}});
  EXPECT_EQ(processes_with_env("CAIRN_TEST_MARK=here"), std::vector<pid_t>{sleeper.pid()});
  EXPECT_TRUE(processes_with_env("CAIRN_TEST_MARK=her").empty());
}

TEST(TempDir, IsGoneWithItsContent) {
  if (std::getenv("CAIRN_KEEP_TMP")) GTEST_SKIP() << "CAIRN_KEEP_TMP is set";
  std::string path;
  {
    TempDir dir;
    path = dir.path();
    write_file(dir / "a/b/c", "text");
    EXPECT_EQ(read_text(dir / "a/b/c"), "text");
  }
  EXPECT_FALSE(exists(path));
}

}  // namespace
}  // namespace cairn::test
