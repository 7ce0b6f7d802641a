// The providers' HTTP calls, on the loop's thread: libcurl's multi interface, driven by the loop's timers and
// sockets.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/http.h"
#include "base/result.h"
#include "daemon/loop.h"

struct event;

namespace cairn::daemon {

// post() and the calls it returns belong to the writer's thread; everything else runs on the loop's thread.
// Destroy it after the loop has ended.
class LoopHttp final : public agent::Http {
 public:
  // `on_news` is called on the loop's thread when there is a part of a response.
  LoopHttp(Loop& loop, std::function<void()> on_news);
  ~LoopHttp() override;

  std::unique_ptr<agent::HttpCall> post(const agent::HttpRequest& request) override;

 private:
  struct Mailbox;
  struct Transfer;
  class Handle;
  class Sockets;

  void start(int id, const agent::HttpRequest& request, const std::shared_ptr<Mailbox>& mailbox);
  void cancel(int id);
  Status open();
  void finished(Transfer& transfer, int result);

  Loop& loop_;
  std::function<void()> on_news_;
  int next_ = 0;                      // used by the writer's thread only
  std::unique_ptr<Sockets> sockets_;  // null until the first call
  std::map<int, std::unique_ptr<Transfer>> transfers_;
};

}  // namespace cairn::daemon
