// The control socket's transport: connections of this user, one line in, one line out. Knows nothing of
// operations.
#pragma once

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

// One connection. Belongs to the loop thread; hold it weakly across threads: the peer may be gone when the
// reply is ready.
class Connection {
 public:
  // Sends a line.
  void reply(std::string_view line);
  // Sends a line and closes once it is out.
  void refuse(std::string_view line);

  // The receipt of the context sent last, to be confirmed by the peer.
  std::optional<std::int64_t> receipt;

 private:
  friend class ControlServer;
  Connection(ControlServer& server, int fd);
  void close();
  ControlServer& server_;
  bufferevent* buffer_ = nullptr;
  bool closing_ = false;

 public:
  ~Connection();
};

// Belongs to the loop thread.
class ControlServer {
 public:
  using Handler = std::function<void(const std::shared_ptr<Connection>&, std::string_view line)>;

  // Listens at `path`. Call only under the home's lock.
  static Result<std::unique_ptr<ControlServer>> listen(Loop& loop, const std::string& path, Log& log,
                                                       Handler handler);

 private:
  friend class Connection;
  ControlServer(Loop& loop, os::Fd listener, Log& log, Handler handler);
  void accept_all();
  void read_lines(Connection& connection);
  void forget(Connection* connection);

  Loop& loop_;
  os::Fd listener_;
  Log& log_;
  Handler handler_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
};

}  // namespace cairn::daemon
