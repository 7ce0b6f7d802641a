// The whole of cairn under seeded schedules of everything that can happen to it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "sim/runner.h"

namespace cairn::sim {
namespace {

// ./check runs a fixed number, ./check full many. A sanitizer takes some fifteen times as long for each.
#ifdef CAIRN_CHECKS_ADDRESSES
constexpr std::uint64_t kSchedules = 30, kFull = 3'000, kRepeated = 3;
#else
constexpr std::uint64_t kSchedules = 500, kFull = 100'000, kRepeated = 10;
#endif

std::uint64_t schedules() {
  return std::getenv("CAIRN_FULL") ? kFull : kSchedules;
}

TEST(Simulation, NoScheduleBreaksAnInvariant) {
  const auto failed = run_seeds_at_once(1, schedules(), std::thread::hardware_concurrency());
  EXPECT_FALSE(failed) << *failed;
}

TEST(Simulation, ASeedMakesTheSameScheduleByteForByte) {
  for (std::uint64_t seed = 1; seed <= kRepeated; ++seed) {
    const Options options{.seed = seed};
    const std::uint64_t first = Schedule(options).run().hash;
    EXPECT_EQ(first, Schedule(options).run().hash) << seed;
    EXPECT_NE(first, Schedule(Options{.seed = seed + 1}).run().hash) << seed;
  }
}

}  // namespace
}  // namespace cairn::sim
