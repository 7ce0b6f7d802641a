#include "daemon/watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cairn::daemon {

Result<InboxWatch> InboxWatch::open(const std::string& directory) {
  os::Fd fd(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) return errno_error("inotify", errno);
  InboxWatch watch(std::move(fd), directory);
  TRY(watch.again());
  return watch;
}

Status InboxWatch::again() {
  // A hook links a finished file into the directory (IN_CREATE), or renames it from tmp/ (IN_MOVED_TO).
  constexpr std::uint32_t kWhat = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  if (inotify_add_watch(fd_.get(), directory_.c_str(), kWhat) < 0)
    return errno_error("inotify " + directory_, errno);
  return {};
}

bool InboxWatch::drain() {
  alignas(inotify_event) char buffer[16 << 10];
  bool there = true;
  while (true) {
    const ssize_t got = read(fd_.get(), buffer, sizeof buffer);
    if (got <= 0) return there;
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer + at, sizeof event);
      // IN_IGNORED: the kernel removed the watch.
      if (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) there = false;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

}  // namespace cairn::daemon
