// Stops the calls to a provider that fails, and tries again with one call at a time.
//
// After a failure the next call waits; after three in a row, or one that cannot go away by itself (quota,
// login, set-up), the breaker is open and the built-in distiller works instead. When the pause is over, one
// call is the probe: success closes the breaker, another failure makes the pause longer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/provider.h"
#include "base/time.h"

namespace cairn::agent {

// Belongs to the writer's thread. Times are boot time in ns.
class Breaker {
 public:
  // Whether a call may be made now. `calls`: those that are being made; a probe is made alone.
  bool allows(std::int64_t now, std::size_t calls) const {
    return now >= pause_until_ && (failures_ == 0 || calls == 0);
  }
  bool open() const { return open_; }
  std::int64_t pause_until() const { return pause_until_; }
  const std::optional<Trouble>& trouble() const { return trouble_; }

  // A call succeeded. True: the breaker was open.
  bool succeed();
  // A call failed. Returns the pause. `until_retry`: the time until the moment that the provider named, if
  // any. Canceled calls say nothing about the provider.
  Millis fail(const Trouble& trouble, std::int64_t now, std::optional<Millis> until_retry);
  // Closes the breaker and sets all counts to 0.
  void reset() { *this = Breaker(); }

 private:
  static constexpr int kFailures = 3;
  static constexpr int kRejections = 6;  // bad requests are usually the fault of one message

  int failures_ = 0;  // in a row
  int rejections_ = 0;
  int canceled_ = 0;
  bool open_ = false;
  std::int64_t pause_until_ = 0;
  std::optional<Trouble> trouble_;  // the last one
};

}  // namespace cairn::agent
