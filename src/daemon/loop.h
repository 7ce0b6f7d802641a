// The loop thread: sockets, timers, signals. Other threads post to it.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "os/socket.h"

struct event;
struct event_base;

namespace cairn::daemon {

class Loop {
 public:
  using Callback = std::function<void()>;

  static Result<std::unique_ptr<Loop>> create();
  ~Loop();

  // Runs until stop(). On the thread that becomes the loop thread.
  void run();
  // Ends run() after 20 ms, so that answers already written reach their sockets.
  void stop();

  // Runs `callback` on the loop thread. Thread-safe; the only member that is.
  void post(Callback callback);

  // Runs `callback` once, after `time`.
  void after(std::chrono::milliseconds time, Callback callback);
  void every(std::chrono::milliseconds interval, Callback callback);
  void on_readable(int fd, Callback callback);
  void on_signal(int number, Callback callback);

  event_base* base() { return base_; }

 private:
  Loop() = default;
  void run_posted();
  void add(int fd, short what, std::chrono::milliseconds interval, Callback callback);

  event_base* base_ = nullptr;
  struct Watched {
    ~Watched();
    ::event* handle = nullptr;
    Callback callback;
  };
  static std::unique_ptr<Watched> watch(event_base* base, int fd, short what, std::chrono::milliseconds time,
                                        Callback callback);
  std::vector<std::unique_ptr<Watched>> watched_;
  std::list<std::unique_ptr<Watched>> once_;
  os::Fd wake_;
  std::mutex mutex_;
  std::vector<Callback> posted_;
};

}  // namespace cairn::daemon
