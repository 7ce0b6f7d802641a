// A clock that only moves when a test moves it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "os/clock.h"

namespace cairn::test {

// Belongs to one thread.
class SimClock final : public os::Clock {
 public:
  std::int64_t wall_ns() override { return wall_ns_; }
  std::int64_t boot_ns() override { return boot_ns_; }
  std::string boot_id() override { return boot_id_; }

  // Time passes: both clocks move.
  void advance(std::chrono::nanoseconds by) {
    wall_ns_ += by.count();
    boot_ns_ += by.count();
  }
  // Sets the wall clock; boot time does not change.
  void set_wall(WallTime to) { wall_ns_ = epoch_ms(to) * 1'000'000; }
  void set_boot_ns(std::int64_t to) { boot_ns_ = to; }
  // The machine is restarted.
  void reboot(std::string boot_id) {
    boot_ns_ = 1'000'000'000;
    boot_id_ = std::move(boot_id);
  }

 private:
  std::int64_t wall_ns_ = 1'790'000'000'000'000'000;  // 2026-09-21T14:13:20Z
  std::int64_t boot_ns_ = 3'600'000'000'000;
  std::string boot_id_ = "0123456789abcdef0123456789abcdef";
};

}  // namespace cairn::test
