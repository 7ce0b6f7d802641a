#include "agent/breaker.h"

#include <algorithm>

#include "store/queue.h"

namespace cairn::agent {

static constexpr Millis kOpenPause = std::chrono::seconds(30);  // at least, while the breaker is open
// A provider that names a later time, perhaps by mistake, is tried again all the same.
static constexpr Millis kLongestPause = std::chrono::hours(6);

bool Breaker::succeed() {
  const bool was_open = open_;
  reset();
  return was_open;
}

Millis Breaker::fail(const Trouble& trouble, std::int64_t now, std::optional<Millis> until_retry) {
  using Kind = Trouble::Kind;
  trouble_ = trouble;
  Millis pause(0);
  if (trouble.kind == Kind::rejected) {
    // Rejected requests pause nothing: the next message may be accepted. Six in a row are a failure of the
    // provider.
    if (++rejections_ < kRejections) return pause;
  } else if (trouble.kind == Kind::canceled) {
    // Not counted as a failure. But a program that ends each time must not be started without a pause.
    pause = store::retry_delay(canceled_++, 0);
    pause_until_ = now + std::chrono::nanoseconds(pause).count();
    return pause;
  }
  pause = store::retry_delay(failures_, 0);
  ++failures_;
  const bool lasting =
      trouble.kind == Kind::quota || trouble.kind == Kind::auth || trouble.kind == Kind::setup;
  open_ = open_ || lasting || failures_ >= kFailures || rejections_ >= kRejections;
  if (open_) pause = std::max(pause, kOpenPause);
  // A time that the provider names replaces our own guess, also when it is sooner.
  if (until_retry && *until_retry > Millis(0)) {
    pause = std::min(*until_retry, kLongestPause);
    open_ = open_ || pause > kOpenPause;
  }
  pause_until_ = now + std::chrono::nanoseconds(pause).count();
  return pause;
}

}  // namespace cairn::agent
