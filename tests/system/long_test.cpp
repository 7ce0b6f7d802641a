// A daemon that has seen very many events is no larger than one that has seen many.
#include <unistd.h>

#include <numeric>

#include "system/delivery.h"

namespace cairn::test {

class LongTest : public DeliveryTest {
 protected:
  // Kilobytes of memory that are the process's own: its heap and stacks. Pages of the program and its
  // libraries are left out, because their share of it changes with every other cairn that runs on the machine
  // meanwhile.
  static double memory_of(pid_t pid) {
    const std::string text = read_text("/proc/" + std::to_string(pid) + "/smaps_rollup");
    const std::size_t at = text.find("\nAnonymous:");
    return at == std::string::npos ? 0 : std::atof(text.c_str() + at + 11);
  }
  static double descriptors_of(pid_t pid) {
    return static_cast<double>(
        os::RealDisk().list("/proc/" + std::to_string(pid) + "/fd").value_or({}).size());
  }
  static double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
};

TEST_F(LongTest, MemoryAndDescriptorsOfTheLastQuarterAreThoseOfTheSecond) {
  ASSERT_EQ(cairn({"daemon", "start"}).exit_code, 0);
  const pid_t daemon = daemons().at(0);
  const std::int64_t events = full() ? 1'000'000 : 20'000;
  const std::int64_t batch = 500;
  std::vector<double> memory[4], descriptors[4];
  while (delivered_ < events) {
    const auto quarter = static_cast<std::size_t>(delivered_ * 4 / events);
    for (std::int64_t i = 0; i < batch; ++i) deliver_next(200);
    ASSERT_TRUE(wait_until([this] { return waiting() == 0; }, 60s));
    memory[quarter].push_back(memory_of(daemon));
    descriptors[quarter].push_back(descriptors_of(daemon));
  }
  for (int i = 0; i < 4; ++i)
    std::printf("quarter %d: %.0f KB, %.1f descriptors\n", i + 1, mean(memory[i]), mean(descriptors[i]));
  EXPECT_GT(mean(memory[1]), 0);
  EXPECT_NEAR(mean(memory[3]), mean(memory[1]), mean(memory[1]) * 0.1);
  EXPECT_NEAR(mean(descriptors[3]), mean(descriptors[1]), mean(descriptors[1]) * 0.1);
  EXPECT_EQ(daemons(), std::vector<pid_t>{daemon}) << "the same process all the time";
  expect_all_stored();
}

}  // namespace cairn::test
