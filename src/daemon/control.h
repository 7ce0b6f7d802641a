// The control socket's transport: connections of this user, one line in, one line out. Knows nothing of
// operations.
#pragma once

#include <sys/time.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/log.h"
#include "base/result.h"
#include "daemon/loop.h"
#include "os/socket.h"

struct bufferevent;
struct event;

namespace cairn::daemon {

class ControlServer;

// One connection. Belongs to the loop thread. Other threads keep only a weak pointer: the peer may be gone
// when the reply is ready.
class Connection {
 public:
  // Sends a line.
  void reply(std::string_view line);
  // Sends a line, then closes the connection.
  void refuse(std::string_view line);
  // A reply will be sent later: until then the connection is not closed as idle.
  void expect_reply();

  // The receipt of the context sent last, to be confirmed by the peer.
  std::optional<std::int64_t> receipt;

 private:
  friend class ControlServer;
  Connection(ControlServer& server, int fd);
  void close();
  ControlServer& server_;
  bufferevent* buffer_ = nullptr;
  bool closing_ = false;
  int expected_ = 0;
  bool asked_ = false;      // a line was received and not answered yet
  std::uint64_t used_ = 0;  // a counter: larger is more recent

 public:
  ~Connection();
};

// Belongs to the loop thread.
class ControlServer {
 public:
  using Handler = std::function<void(const std::shared_ptr<Connection>&, std::string_view line)>;

  // Listens at `path`. Call only under the home's lock. A connection without traffic for `idle` is closed.
  // At `most` connections, the least recently used one that waits for no reply is closed to make room for a
  // new one. When all of them wait for a reply, the new one is closed.
  static Result<std::unique_ptr<ControlServer>> listen(
      Loop& loop, const std::string& path, Log& log, Handler handler,
      std::chrono::milliseconds idle = std::chrono::minutes(10), std::size_t most = kMostConnections);
  // Enough for a burst of hooks, and far below the descriptor limit.
  static constexpr std::size_t kMostConnections = 512;

 private:
  friend class Connection;
  ControlServer(Loop& loop, os::Fd listener, Log& log, Handler handler, timeval idle, std::size_t most);
  void accept_all();
  bool make_room();
  void read_lines(Connection& connection);
  void forget(Connection* connection);

  Loop& loop_;
  os::Fd listener_;
  Log& log_;
  Handler handler_;
  timeval idle_;
  std::size_t most_;
  std::uint64_t uses_ = 0;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
};

}  // namespace cairn::daemon
