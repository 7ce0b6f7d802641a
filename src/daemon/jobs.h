// A thread that runs posted jobs in order and, when there are none, steps of background work. The daemon's
// writer is one: requests are its jobs; reading the inbox and the queue are its steps.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/result.h"

namespace cairn::daemon {

// Thread-safe.
class JobThread {
 public:
  using Job = std::function<void()>;
  // Returns true when there may be more work. An error is logged, and the step is tried again after a pause
  // of 1 s, doubling to 1 min.
  using Step = std::function<Result<bool>()>;

  // When the step must be called again even without wake(). Called on this thread after a step that had
  // nothing to do.
  using Wake = std::function<std::optional<std::chrono::milliseconds>()>;

  JobThread(std::string name, Log& log, Step step = nullptr, Wake wake = nullptr);
  ~JobThread() { stop(); }

  // Runs `job` before the next step. After stop() it is dropped.
  void post(Job job);
  // Wakes the thread: there may be work for the step.
  void wake();
  // Ends the thread after the current job or step, and waits for that.
  void stop();

 private:
  void run();
  void run_step(std::unique_lock<std::mutex>& lock);

  std::string name_;
  Log& log_;
  Step step_;
  Wake wake_;
  std::optional<std::chrono::steady_clock::time_point> wake_at_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool step_due_ = false;
  bool stopping_ = false;
  std::chrono::milliseconds pause_{0};
  std::thread thread_;
};

}  // namespace cairn::daemon
