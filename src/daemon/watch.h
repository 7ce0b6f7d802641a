// Watches inbox/new with inotify: a hint that events may have arrived. The events themselves are found by
// listing the directory, so that a lost or overflowing watch delays events but never loses one.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "os/socket.h"

namespace cairn::daemon {

class InboxWatch {
 public:
  // Fails when the kernel has no watch left.
  static Result<InboxWatch> open(const std::string& directory);
  int fd() const { return fd_.get(); }
  // Empties the kernel's queue; false when the watched directory itself is gone.
  bool drain();
  // Watches again after drain() returned false, once the directory exists again.
  Status again();

 private:
  InboxWatch(os::Fd fd, std::string directory) : fd_(std::move(fd)), directory_(std::move(directory)) {}
  os::Fd fd_;
  std::string directory_;
};

}  // namespace cairn::daemon
