#include "os/clock.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace cairn::os {

static std::int64_t read_clock(clockid_t which) {
  timespec t{};
  clock_gettime(which, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::int64_t RealClock::wall_ns() {
  return read_clock(CLOCK_REALTIME);
}

std::int64_t RealClock::boot_ns() {
  return read_clock(CLOCK_BOOTTIME);
}

static std::string read_boot_id() {
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[64];
  const ssize_t got = read(fd, text, sizeof text);
  close(fd);
  std::string id(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  std::erase_if(id, [](char c) { return c == '-' || c == '\n'; });
  const bool is_id = id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_id ? id : std::string();
}

// Read once: it cannot change while this process lives.
std::string RealClock::boot_id() {
  static const std::string id = read_boot_id();
  return id;
}

}  // namespace cairn::os
