// The protocol of the control socket: parses requests, passes them to the dispatcher and writes replies.
// Handles answers to hooks itself, because a hook confirms its receipt on the same connection: `answer` and
// `given` are no operations, and a hook's arguments are read leniently, never refused.
//
// docs/reference/control.md describes it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/json.h"
#include "base/log.h"
#include "daemon/control.h"
#include "daemon/dispatcher.h"
#include "daemon/engine.h"
#include "daemon/jobs.h"
#include "daemon/loop.h"
#include "os/clock.h"

namespace cairn::daemon {

// Belongs to the loop thread. Stop the writer before you destroy it.
class Server {
 public:
  struct Parts {
    os::Clock& clock;
    Log& log;
    Loop& loop;
    Engine& engine;
    JobThread& writer;
    Dispatcher& dispatcher;
    std::function<void()> on_activity;  // a request arrived: the daemon is not idle
  };
  explicit Server(const Parts& parts) : parts_(parts) {}

  void handle(const std::shared_ptr<Connection>& connection, std::string_view line);

 private:
  using Peer = std::weak_ptr<Connection>;
  void answer(const std::shared_ptr<Connection>& connection, const Json& args);
  void given(Connection& connection);

  Parts parts_;
};

}  // namespace cairn::daemon
