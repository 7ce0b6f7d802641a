// The clocks, injected: wall time for people, boot time for order.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace cairn::os {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since the epoch. May jump.
  virtual std::int64_t wall_ns() = 0;
  // Nanoseconds since the machine started, sleep included. Never goes back while boot_id stays.
  virtual std::int64_t boot_ns() = 0;
  // 32 hex digits that change at every boot; empty when unknown.
  virtual std::string boot_id() = 0;

  WallTime now() { return from_epoch_ms(wall_ns() / 1'000'000); }
};

class RealClock final : public Clock {
 public:
  std::int64_t wall_ns() override;
  std::int64_t boot_ns() override;
  std::string boot_id() override;
};

}  // namespace cairn::os
