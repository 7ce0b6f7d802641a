#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "hook/start.h"
#include "os/lock.h"
#include "support/sim_clock.h"
#include "support/temp_dir.h"
#include "support/wait.h"

namespace cairn::hook {
namespace {

using namespace std::chrono_literals;

// A `cairn` that only counts how often it was started.
class StartTest : public testing::Test {
 protected:
  StartTest() {
    test::write_file(cairn_, "#!/bin/sh\necho \"$@\" >> " + (dir_ / "starts") + "\n");
    EXPECT_EQ(chmod(cairn_.c_str(), 0700), 0);
  }

  Start start(bool force = false) {
    const Start result = start_daemon(disk_, home_, clock_, cairn_, force);
    if (result == Start::started) {
      ++expected_;
      EXPECT_TRUE(test::wait_until([&] { return starts() == expected_; }, 10s));
    }
    return result;
  }
  int starts() {
    const std::string text = test::read_text(dir_ / "starts");
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  test::TempDir dir_;
  const Home home_ = Home::at(dir_ / "home");
  const std::string cairn_ = dir_ / "cairn";
  os::RealDisk disk_;
  test::SimClock clock_;
  int expected_ = 0;
};

TEST_F(StartTest, RunsTheDaemon) {
  EXPECT_EQ(start(), Start::started);
  EXPECT_EQ(test::read_text(dir_ / "starts"), "daemon run\n");
  EXPECT_EQ(test::read_text(home_.start()),
            "cairn1 0001 00000003600000000000 0123456789abcdef0123456789abcdef\n");
}

TEST_F(StartTest, LeavesARunningDaemonAlone) {
  ASSERT_EQ(start(), Start::started);
  const auto lock = os::FileLock::acquire(home_.lock());
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(start(true), Start::running);
}

TEST_F(StartTest, WritesNothingWhenThereIsNoDaemonToStart) {
  EXPECT_EQ(start_daemon(disk_, home_, clock_, dir_ / "none", true), Start::missing);
  EXPECT_FALSE(test::exists(home_.data));
}

TEST_F(StartTest, FailsWhereTheHomeCannotBeMade) {
  test::write_file(dir_ / "file", "");
  EXPECT_EQ(start_daemon(disk_, Home::at(dir_ / "file/home"), clock_, cairn_, false), Start::failed);
}

TEST_F(StartTest, FailsWhenTheFileIsNoProgram) {
  ASSERT_EQ(chmod(cairn_.c_str(), 0600), 0);
  EXPECT_EQ(start_daemon(disk_, home_, clock_, cairn_, false), Start::failed);
}

TEST_F(StartTest, WaitsWhileAnotherCallerIsStartingIt) {
  ASSERT_EQ(start(), Start::started);
  clock_.advance(1h);
  const auto lock = os::FileLock::acquire(home_.start());
  EXPECT_EQ(start(true), Start::waiting);
}

TEST_F(StartTest, DoublesThePauseFromFiveSecondsToFiveMinutes) {
  ASSERT_EQ(start(), Start::started);
  for (const auto pause : {5s, 10s, 20s, 40s, 80s, 160s, 300s, 300s, 300s}) {
    clock_.advance(pause - 1ns);
    EXPECT_EQ(start(), Start::waiting) << pause.count();
    clock_.advance(1ns);
    EXPECT_EQ(start(), Start::started) << pause.count();
  }
}

TEST_F(StartTest, DoesNotPauseForAPerson) {
  ASSERT_EQ(start(), Start::started);
  EXPECT_EQ(start(), Start::waiting);
  EXPECT_EQ(start(true), Start::started);
}

TEST_F(StartTest, StartsAgainAtOnceAfterADaemonThatServed) {
  for (int i = 0; i < 4; ++i) ASSERT_EQ(start(true), Start::started);
  EXPECT_EQ(start(), Start::waiting);
  clear_start(disk_, home_);
  EXPECT_EQ(start(), Start::started);
  clock_.advance(5s);
  EXPECT_EQ(start(), Start::started) << "the pause begins anew";
}

TEST_F(StartTest, ForgetsTheAttemptsOfAnotherBoot) {
  for (int i = 0; i < 4; ++i) ASSERT_EQ(start(true), Start::started);
  clock_.reboot("fedcba9876543210fedcba9876543210");
  EXPECT_EQ(start(), Start::started);
  clock_.advance(5s);
  EXPECT_EQ(start(), Start::started);
}

TEST_F(StartTest, IgnoresARecordFromTheFuture) {
  clock_.reboot("");
  clock_.set_boot_ns(1'000'000'000'000);
  ASSERT_EQ(start(), Start::started);
  clock_.set_boot_ns(1'000'000'000);
  EXPECT_EQ(start(), Start::started);
}

TEST_F(StartTest, IgnoresADamagedRecord) {
  for (const char* record :
       {"", "x", "cairn1 9999", "cairn2 0001 00000003600000000000 0123456789abcdef0123456789abcdef\n",
        "cairn1 000x 00000003600000000000 0123456789abcdef0123456789abcdef\n"}) {
    test::write_file(home_.start(), record);
    EXPECT_EQ(start(), Start::started) << record;
  }
}

TEST_F(StartTest, StartsOnceForManyCallersAtOnce) {
  std::vector<Start> results(16);
  {
    std::vector<std::jthread> callers;
    for (Start& result : results)
      callers.emplace_back([&] {
        test::SimClock clock;
        result = start_daemon(disk_, home_, clock, cairn_, false);
      });
  }
  EXPECT_EQ(std::count(results.begin(), results.end(), Start::started), 1);
  EXPECT_EQ(std::count(results.begin(), results.end(), Start::waiting), 15);
  EXPECT_TRUE(test::wait_until([&] { return starts() == 1; }, 10s));
}

TEST_F(StartTest, FindsCairnBesideTheRunningProgram) {
  EXPECT_TRUE(cairn_beside_me().ends_with("/bin/cairn")) << cairn_beside_me();
}

}  // namespace
}  // namespace cairn::hook
