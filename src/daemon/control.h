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

// One connection. Belongs to the loop thread; hold it weakly across threads: the peer may be gone when the
// reply is ready.
class Connection {
 public:
  // Sends a line.
  void reply(std::string_view line);
  // Sends a line and closes once it is out.
  void refuse(std::string_view line);
  // A reply will come, however late: until then the connection may be silent for as long as it takes.
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
  bool asked_ = false;      // a line came and nothing was sent since
  std::uint64_t used_ = 0;  // when it was last used, as the server counts

 public:
  ~Connection();
};

// Belongs to the loop thread.
class ControlServer {
 public:
  using Handler = std::function<void(const std::shared_ptr<Connection>&, std::string_view line)>;

  // Listens at `path`. Call only under the home's lock. A connection that is silent for `idle` is closed: a
  // peer that hangs does not hold its place for ever. Beyond `most` connections the one that waits for
  // nothing and was used least recently makes room: idle peers never keep a hook from its answer.
  static Result<std::unique_ptr<ControlServer>> listen(
      Loop& loop, const std::string& path, Log& log, Handler handler,
      std::chrono::milliseconds idle = std::chrono::minutes(10), std::size_t most = kMostConnections);
  // A burst of hooks; far below the descriptor limit.
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
