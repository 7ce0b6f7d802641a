// kill -9 of hook, daemon and command, before any system call and at random moments: what was acknowledged is
// there once, and nothing is stuck.
#include <sys/stat.h>

#include <atomic>
#include <random>
#include <thread>

#include "support/traced.h"
#include "system/delivery.h"

namespace cairn::test {

class KillTest : public DeliveryTest {};

TEST_F(KillTest, AHookBeforeAnyOfItsCallsLeavesAWholeEventOrNone) {
  write_file(home_.lock(), "");  // a home that is there; no cairn beside the hook would start a daemon
  const std::string hook = dir_ / "alone/cairn-hook";
  write_file(hook, read_text(bin_ + "/cairn-hook"));
  ASSERT_EQ(chmod(hook.c_str(), 0700), 0);
  Program p = program("cairn-hook", {"PostToolUse"});
  p.argv[0] = hook;
  std::uint64_t killed = 0;
  for (std::uint64_t k = 1;; ++k) {
    p.input = tool_use("hook", "t" + std::to_string(k));
    const std::size_t before = waiting();
    const Traced run = run_until_call(p, k);
    EXPECT_LE(waiting(), before + 1);
    if (!run.killed) {
      EXPECT_EQ(waiting(), before + 1);
      break;
    }
    ++killed;
  }
  EXPECT_GT(killed, 20u);
  delivered_ = static_cast<std::int64_t>(waiting());
  EXPECT_GT(delivered_, 0);
  expect_all_stored();
}

TEST_F(KillTest, ADaemonBeforeAnyCallThatChangesSomethingLosesAndDoublesNothing) {
  write_file(home_.config_file, "[daemon]\nidle_exit_minutes = 0.003\n");
  std::mt19937_64 random(7);
  std::uint64_t longest = 0;
  int killed = 0;
  const int rounds = full() ? 400 : 24;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 20; ++i) deliver_next(5);
    const std::uint64_t k = full() ? static_cast<std::uint64_t>(round) + 1 : 1 + random() % 200;
    const Traced run = run_until_call(program("cairn", {"daemon", "run"}), k, Calls::changing);
    longest = std::max(longest, run.calls);
    killed += run.killed;
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(longest, 50u);
  EXPECT_GT(killed, rounds / 2);
  write_file(home_.config_file, "");
  expect_all_stored();
}

TEST_F(KillTest, ACommandBeforeAnyOfItsCallsHarmsNothing) {
  play_session("one", "create the test file", "test.txt");
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  const auto daemon = daemons();
  const std::uint64_t step = full() ? 1 : 40;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"process"}, {"status"}, {"sessions", "cleanup"}}) {
    for (std::uint64_t k = 1;; k += step)
      if (!run_until_call(program("cairn", command), k).killed) break;
    EXPECT_EQ(cairn({"daemon", "status"}).exit_code, 0);
  }
  EXPECT_EQ(daemons(), daemon) << "the same one serves";
  delivered_ = 5;
  expect_all_stored();
}

// A driver delivers all the time while daemons are started and killed at random moments of their life.
TEST_F(KillTest, ADaemonAtRandomMomentsUnderLoadLosesAndDoublesNothing) {
  std::mt19937_64 random(11);
  std::atomic<bool> over = false;
  std::thread driver([&] {
    while (!over) {
      deliver_next(7);
      std::this_thread::sleep_for(2ms);
    }
  });
  const int kills = full() ? 500 : 25;
  for (int i = 0; i < kills; ++i) {
    Background daemon(program("cairn", {"daemon", "run"}));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
    daemon.kill();
  }
  over = true;
  driver.join();
  EXPECT_GT(delivered_, kills * 10);
  expect_all_stored();
  EXPECT_GT(json({"status"})["summaries"].as_int(), 0);
}

}  // namespace cairn::test
