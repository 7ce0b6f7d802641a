#include "daemon/jobs.h"

#include <malloc.h>
#include <pthread.h>

#include <exception>

namespace cairn::daemon {

using std::chrono::milliseconds;

JobThread::JobThread(std::string name, Log& log, Step step, Wake wake)
    : name_(std::move(name)), log_(log), step_(std::move(step)), wake_(std::move(wake)) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());  // a longer name is refused
    try {
      run();
    } catch (const std::exception& error) {  // only libraries throw; our errors are values
      log_.error(name_ + ": " + error.what());
      std::abort();  // the next daemon starts from what is committed
    }
  });
}

void JobThread::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void JobThread::wake() {
  {
    const std::lock_guard lock(mutex_);
    step_due_ = true;
  }
  changed_.notify_one();
}

void JobThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// Jobs come before steps: a request waits for one step at most.
void JobThread::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!jobs_.empty()) {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      job = nullptr;  // destroy what it captured before taking the lock
      lock.lock();
    } else if (step_due_ && step_) {
      run_step(lock);
    } else if (!wake_at_) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, *wake_at_) == std::cv_status::timeout) {
      wake_at_.reset();
      step_due_ = true;
    }
  }
}

void JobThread::run_step(std::unique_lock<std::mutex>& lock) {
  step_due_ = false;  // before the step: a wake() while it runs leads to another step
  lock.unlock();
  const Result<bool> more = step_();
  std::optional<milliseconds> wake;
  if (more && !*more) {
    malloc_trim(0);  // return memory of large events to the system before idling
    if (wake_) wake = wake_();
  }
  if (!more) log_.error(name_ + ": " + more.error().message);
  lock.lock();
  if (more) {
    step_due_ |= *more;
    wake_at_.reset();
    if (wake) wake_at_ = std::chrono::steady_clock::now() + *wake;
    pause_ = milliseconds(0);
    return;
  }
  pause_ = std::min(milliseconds(60'000), std::max(milliseconds(1000), pause_ * 2));
  // Not for wake(): events that keep arriving would make a step that fails run without a pause. A job is run
  // at once, and then the step is tried again.
  changed_.wait_for(lock, pause_, [this] { return stopping_ || !jobs_.empty(); });
  step_due_ = true;
}

}  // namespace cairn::daemon
