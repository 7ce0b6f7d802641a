// Unix sockets at any path: a path over the kernel's limit of 107 bytes is reached through its directory's
// descriptor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn::os {

// An owned descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }
  int release();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Binds and listens, mode 0600, non-blocking. An existing socket file is removed first: call it only while
// this process has the home's lock, because then no other process serves that file.
Result<Fd> listen_unix(const std::string& path);
// Removes the name of a socket, so that no client connects to it any more.
void remove_unix(const std::string& path);

// Connects within `timeout_ms`. Fails with `not_found` when nothing listens there, `timeout`, or `denied`
// when the socket or its peer does not belong to this user.
Result<Fd> connect_unix(const std::string& path, int timeout_ms);

// Whether the peer of a connected socket runs as this user.
bool peer_is_me(int fd);

// Writes all of `bytes`, or reads up to and without the next '\n' (at most `max` bytes), until
// `deadline_boot_ns` on CLOCK_BOOTTIME. `rest` carries bytes read beyond the line to the next call.
Status send_all(int fd, std::string_view bytes, std::int64_t deadline_boot_ns);
Result<std::string> read_line(int fd, std::string& rest, std::size_t max, std::int64_t deadline_boot_ns);

}  // namespace cairn::os
