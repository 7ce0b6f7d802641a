#include "daemon/control.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace cairn::daemon {

static constexpr std::size_t kMaxRequest = 1u << 20;  // requests are small; answers are not limited
static constexpr std::size_t kMaxConnections = 512;   // a burst of hooks; far below the descriptor limit

Connection::Connection(ControlServer& server, int fd) : server_(server) {
  buffer_ = bufferevent_socket_new(server.loop_.base(), fd, BEV_OPT_CLOSE_ON_FREE);
  CAIRN_ASSERT(buffer_);
  bufferevent_setcb(
      buffer_,
      [](bufferevent*, void* self) {
        auto* c = static_cast<Connection*>(self);
        c->server_.read_lines(*c);
      },
      [](bufferevent*, void* self) {
        auto* c = static_cast<Connection*>(self);
        if (c->closing_) c->close();
      },
      [](bufferevent*, short, void* self) { static_cast<Connection*>(self)->close(); }, this);
  bufferevent_set_timeouts(buffer_, &server.idle_, &server.idle_);
  bufferevent_enable(buffer_, EV_READ | EV_WRITE);
}

Connection::~Connection() {
  bufferevent_free(buffer_);
}

void Connection::close() {
  server_.forget(this);
}

void Connection::expect_reply() {
  ++expected_;
  bufferevent_set_timeouts(buffer_, nullptr, &server_.idle_);
}

void Connection::reply(std::string_view line) {
  if (expected_ > 0 && --expected_ == 0) bufferevent_set_timeouts(buffer_, &server_.idle_, &server_.idle_);
  bufferevent_write(buffer_, line.data(), line.size());
  bufferevent_write(buffer_, "\n", 1);
}

void Connection::refuse(std::string_view line) {
  closing_ = true;
  reply(line);
}

Result<std::unique_ptr<ControlServer>> ControlServer::listen(Loop& loop, const std::string& path, Log& log,
                                                             Handler handler,
                                                             std::chrono::milliseconds idle) {
  const timeval time{idle.count() / 1000, (idle.count() % 1000) * 1000};
  os::Fd listener = TRY(os::listen_unix(path));
  std::unique_ptr<ControlServer> server(
      new ControlServer(loop, std::move(listener), log, std::move(handler), time));
  loop.on_readable(server->listener_.get(), [self = server.get()] { self->accept_all(); });
  return server;
}

ControlServer::ControlServer(Loop& loop, os::Fd listener, Log& log, Handler handler, timeval idle)
    : loop_(loop), listener_(std::move(listener)), log_(log), handler_(std::move(handler)), idle_(idle) {}

void ControlServer::accept_all() {
  while (true) {
    os::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    if (!os::peer_is_me(fd.get())) {
      log_.warn("control: refused a connection of another user");
      continue;
    }
    if (connections_.size() >= kMaxConnections) continue;  // closed: a hook takes the fixed answer
    std::shared_ptr<Connection> connection(new Connection(*this, fd.release()));
    connections_.emplace(connection.get(), connection);
  }
}

void ControlServer::read_lines(Connection& connection) {
  const auto keep = connections_.at(&connection);
  evbuffer* input = bufferevent_get_input(connection.buffer_);
  while (connections_.contains(keep.get())) {
    std::size_t size = 0;
    char* line = evbuffer_readln(input, &size, EVBUFFER_EOL_LF);
    if (!line) break;
    handler_(keep, std::string_view(line, size));
    std::free(line);
  }
  if (connections_.contains(keep.get()) && evbuffer_get_length(input) > kMaxRequest) {
    log_.warn("control: a request longer than 1 MB was refused");
    connection.close();
  }
}

void ControlServer::forget(Connection* connection) {
  connections_.erase(connection);
}

}  // namespace cairn::daemon
