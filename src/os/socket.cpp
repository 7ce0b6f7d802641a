#include "os/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "os/clock.h"

namespace cairn::os {

Fd& Fd::operator=(Fd&& other) noexcept {
  Fd old(std::exchange(fd_, other.release()));
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

int Fd::release() {
  return std::exchange(fd_, -1);
}

namespace {

// A socket's address in a form that the kernel accepts. Keeps the directory open while it is used.
struct Address {
  sockaddr_un name{};
  Fd directory;
};

Result<Address> address_of(const std::string& path) {
  Address address;
  address.name.sun_family = AF_UNIX;
  std::string shortened = path;
  // Too long for the kernel: open the directory, and name the socket as /proc/self/fd/N/NAME.
  if (path.size() >= sizeof address.name.sun_path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return Error{Code::invalid, "socket " + path + ": the name is too long"};
    address.directory = Fd(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.directory) return errno_error("socket " + path, errno);
    shortened = "/proc/self/fd/" + std::to_string(address.directory.get()) + path.substr(slash);
    if (shortened.size() >= sizeof address.name.sun_path)
      return Error{Code::invalid, "socket " + path + ": the name is too long"};
  }
  std::memcpy(address.name.sun_path, shortened.c_str(), shortened.size() + 1);
  return address;
}

const sockaddr* as_sockaddr(const sockaddr_un& name) {
  return reinterpret_cast<const sockaddr*>(&name);
}

Result<Fd> new_socket() {
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return errno_error("socket", errno);
  return fd;
}

// Waits until `fd` is ready for `events`, or the deadline.
Status wait_for(int fd, short events, std::int64_t deadline_boot_ns) {
  for (;;) {
    const std::int64_t left_ns = deadline_boot_ns - RealClock().boot_ns();
    if (left_ns <= 0) return Error{Code::timeout, "no answer in time"};
    pollfd p{fd, events, 0};
    // Rounded up: a wait of 0 ms would spin through the last millisecond.
    const int ready = poll(&p, 1, static_cast<int>(std::min<std::int64_t>(left_ns / 1'000'000 + 1, 1 << 30)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return errno_error("poll", errno);
  }
}

}  // namespace

void remove_unix(const std::string& path) {
  unlink(path.c_str());
}

Result<Fd> listen_unix(const std::string& path) {
  const Address address = TRY(address_of(path));
  Fd fd = TRY(new_socket());
  unlink(address.name.sun_path);
  // The socket's own mode becomes the file's, so that it is never open to others, not even for a moment.
  fchmod(fd.get(), 0600);
  if (bind(fd.get(), as_sockaddr(address.name), sizeof address.name) != 0)
    return errno_error("bind " + path, errno);
  if (chmod(address.name.sun_path, 0600) != 0) return errno_error("chmod " + path, errno);
  // A queue for many hooks at once: where it is full, clients must poll (see connect_unix).
  if (listen(fd.get(), 512) != 0) return errno_error("listen " + path, errno);
  return fd;
}

Result<Fd> connect_unix(const std::string& path, int timeout_ms) {
  const std::int64_t deadline = RealClock().boot_ns() + std::int64_t{timeout_ms} * 1'000'000;
  const Address address = TRY(address_of(path));
  struct stat st {};
  if (lstat(address.name.sun_path, &st) != 0) return errno_error("connect " + path, errno);
  if (S_ISLNK(st.st_mode)) return Error{Code::denied, "connect " + path + ": it is a link"};
  if (st.st_uid != geteuid()) return Error{Code::denied, "connect " + path + ": it belongs to another user"};
  // The checks above are of the name, which may be replaced at any moment; peer_is_me() below decides.
  Fd fd = TRY(new_socket());
  while (connect(fd.get(), as_sockaddr(address.name), sizeof address.name) != 0) {
    if (errno == ECONNREFUSED) return Error{Code::not_found, "connect " + path + ": no daemon answers there"};
    if (errno != EAGAIN && errno != EINTR) return errno_error("connect " + path, errno);
    // The listener's queue is full. The kernel has no event to wait for, so try again.
    if (RealClock().boot_ns() >= deadline)
      return Error{Code::timeout, "connect " + path + ": no answer in time"};
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  if (!peer_is_me(fd.get()))
    return Error{Code::denied, "connect " + path + ": the server runs as another user"};
  return fd;
}

bool peer_is_me(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

Status send_all(int fd, std::string_view bytes, std::int64_t deadline_boot_ns) {
  while (!bytes.empty()) {
    const ssize_t put = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {
      TRY(wait_for(fd, POLLOUT, deadline_boot_ns));
    } else if (errno != EINTR) {
      return errno_error("send", errno);
    }
  }
  return {};
}

Result<std::string> read_line(int fd, std::string& rest, std::size_t max, std::int64_t deadline_boot_ns) {
  std::size_t searched = 0;  // no line feed is before this: a long line is not searched again and again
  for (;;) {
    const std::size_t end = rest.find('\n', searched);
    if (std::min(end, rest.size()) > max) return Error{Code::invalid, "a line is too long"};
    if (end != std::string::npos) {
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      return line;
    }
    searched = rest.size();
    char bytes[16 << 10];
    const ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) {
      rest.append(bytes, static_cast<std::size_t>(got));
    } else if (got == 0) {
      return Error{Code::canceled, "the other side closed the connection"};
    } else if (errno == EAGAIN) {
      TRY(wait_for(fd, POLLIN, deadline_boot_ns));
    } else if (errno != EINTR) {
      return errno_error("receive", errno);
    }
  }
}

}  // namespace cairn::os
