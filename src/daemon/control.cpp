#include "daemon/control.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace cairn::daemon {

static constexpr std::size_t kMaxRequest = 1u << 20;  // requests are small; answers are not limited

Connection::Connection(ControlServer& server, int fd) : server_(server), used_(++server.uses_) {
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

// Without a read timeout: an operation may take minutes, and the peer sends nothing meanwhile.
void Connection::expect_reply() {
  ++expected_;
  bufferevent_set_timeouts(buffer_, nullptr, &server_.idle_);
}

void Connection::reply(std::string_view line) {
  asked_ = false;
  if (expected_ > 0 && --expected_ == 0) bufferevent_set_timeouts(buffer_, &server_.idle_, &server_.idle_);
  bufferevent_write(buffer_, line.data(), line.size());
  bufferevent_write(buffer_, "\n", 1);
}

// The write callback of the constructor closes the connection, once the line is sent.
void Connection::refuse(std::string_view line) {
  closing_ = true;
  reply(line);
}

Result<std::unique_ptr<ControlServer>> ControlServer::listen(Loop& loop, const std::string& path, Log& log,
                                                             Handler handler, std::chrono::milliseconds idle,
                                                             std::size_t most) {
  const timeval time{idle.count() / 1000, (idle.count() % 1000) * 1000};
  os::Fd listener = TRY(os::listen_unix(path));
  std::unique_ptr<ControlServer> server(
      new ControlServer(loop, std::move(listener), log, std::move(handler), time, most));
  loop.on_readable(server->listener_.get(), [self = server.get()] { self->accept_all(); });
  return server;
}

ControlServer::ControlServer(Loop& loop, os::Fd listener, Log& log, Handler handler, timeval idle,
                             std::size_t most)
    : loop_(loop),
      listener_(std::move(listener)),
      log_(log),
      handler_(std::move(handler)),
      idle_(idle),
      most_(most) {}

// Whether a request has arrived and was not read yet. Such a peer is not idle, although read_lines() has not
// seen its line.
static bool has_input(int fd) {
  char first = 0;
  return recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// Closes the connection that was used least recently, if all places are taken. False: all of them wait for a
// reply.
bool ControlServer::make_room() {
  if (connections_.size() < most_) return true;
  Connection* oldest = nullptr;
  for (const auto& [connection, owner] : connections_)
    if (!connection->asked_ && connection->expected_ == 0 && (!oldest || connection->used_ < oldest->used_) &&
        !has_input(bufferevent_getfd(connection->buffer_)))
      oldest = connection;
  if (!oldest) return false;
  oldest->close();
  return true;
}

void ControlServer::accept_all() {
  while (true) {
    os::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    if (!os::peer_is_me(fd.get())) {
      log_.warn("control: refused a connection of another user");
      continue;
    }
    if (!make_room()) continue;  // closed at once: a hook then uses the fixed answer
    std::shared_ptr<Connection> connection(new Connection(*this, fd.release()));
    connections_.emplace(connection.get(), connection);
  }
}

void ControlServer::read_lines(Connection& connection) {
  // The handler may close the connection: `keep` lets it live until the end of this function.
  const auto keep = connections_.at(&connection);
  evbuffer* input = bufferevent_get_input(connection.buffer_);
  while (connections_.contains(keep.get())) {
    std::size_t size = 0;
    char* line = evbuffer_readln(input, &size, EVBUFFER_EOL_LF);
    if (!line) break;
    connection.asked_ = true;
    connection.used_ = ++uses_;
    handler_(keep, std::string_view(line, size));
    std::free(line);
  }
  // What is left is a line without an end.
  if (connections_.contains(keep.get()) && evbuffer_get_length(input) > kMaxRequest) {
    log_.warn("control: a request longer than 1 MB was refused");
    connection.close();
  }
}

void ControlServer::forget(Connection* connection) {
  connections_.erase(connection);
}

}  // namespace cairn::daemon
