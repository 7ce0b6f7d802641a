#include "daemon/loop.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace cairn::daemon {

Result<std::unique_ptr<Loop>> Loop::create() {
  std::unique_ptr<Loop> loop(new Loop());
  loop->base_ = event_base_new();
  loop->wake_ = os::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!loop->base_ || !loop->wake_) return errno_error("event loop", errno);
  loop->on_readable(loop->wake_.get(), [self = loop.get()] { self->run_posted(); });
  return loop;
}

Loop::~Loop() {
  watched_.clear();
  once_.clear();
  if (base_) event_base_free(base_);
}

void Loop::run() {
  event_base_dispatch(base_);
}

void Loop::stop() {
  const timeval soon{0, 20'000};
  event_base_loopexit(base_, &soon);
}

void Loop::post(Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(callback));
  }
  // The write fails only when the counter is at its maximum; then the loop is about to wake anyway.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
}

void Loop::run_posted() {
  // Reset the counter before taking the list: what is posted after that wakes the loop again.
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof count);
  std::vector<Callback> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (const Callback& callback : posted) callback();
}

Loop::Watched::~Watched() {
  if (handle) event_free(handle);
}

// `interval` of zero: no timer; only the descriptor or the signal calls back.
std::unique_ptr<Loop::Watched> Loop::watch(event_base* base, int fd, short what,
                                           std::chrono::milliseconds interval, Callback callback) {
  auto watched = std::make_unique<Watched>();
  watched->callback = std::move(callback);
  watched->handle = event_new(
      base, fd, what, [](evutil_socket_t, short, void* self) { static_cast<Watched*>(self)->callback(); },
      watched.get());
  CAIRN_ASSERT(watched->handle);
  const timeval time{interval.count() / 1000, (interval.count() % 1000) * 1000};
  event_add(watched->handle, interval.count() > 0 ? &time : nullptr);
  return watched;
}

void Loop::add(int fd, short what, std::chrono::milliseconds interval, Callback callback) {
  watched_.push_back(watch(base_, fd, what, interval, std::move(callback)));
}

void Loop::after(std::chrono::milliseconds time, Callback callback) {
  const auto place = once_.emplace(once_.end());
  *place = watch(base_, -1, 0, time, [this, place, callback = std::move(callback)] {
    const std::unique_ptr<Watched> fired = std::move(*place);  // owns this lambda until it returns
    once_.erase(place);
    callback();
  });
}

void Loop::every(std::chrono::milliseconds interval, Callback callback) {
  add(-1, EV_PERSIST, interval, std::move(callback));
}
void Loop::on_readable(int fd, Callback callback) {
  add(fd, EV_READ | EV_PERSIST, std::chrono::milliseconds(0), std::move(callback));
}
void Loop::on_signal(int number, Callback callback) {
  add(number, EV_SIGNAL | EV_PERSIST, std::chrono::milliseconds(0), std::move(callback));
}

}  // namespace cairn::daemon
