// A thread that runs jobs in order and, when there are none, steps of standing work.
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
  // A step returns true when there may be more; an error is logged and the step is tried again after a pause
  // of 1 s, doubling to 1 min.
  using Step = std::function<Result<bool>()>;

  // When the step wants to be called again though nobody nudges; asked on this thread after a step that had
  // nothing to do.
  using Wake = std::function<std::optional<std::chrono::milliseconds>()>;

  JobThread(std::string name, Log& log, Step step = nullptr, Wake wake = nullptr);
  ~JobThread() { stop(); }

  // Runs `job` before the next step. After stop() it is dropped.
  void post(Job job);
  // There may be work for the step.
  void nudge();
  // Ends after the job or step that runs now, and waits for it.
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
  bool nudged_ = false;
  bool stopping_ = false;
  std::chrono::milliseconds pause_{0};
  std::thread thread_;
};

}  // namespace cairn::daemon
