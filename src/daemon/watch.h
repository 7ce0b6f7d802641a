// Watches inbox/new: tells that something may have arrived. What has arrived is found by scanning, so that a
// lost or overflowing watch costs time, never an event.
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
  // Watches again after drain() said so, once the directory is back.
  Status again();

 private:
  InboxWatch(os::Fd fd, std::string directory) : fd_(std::move(fd)), directory_(std::move(directory)) {}
  os::Fd fd_;
  std::string directory_;
};

}  // namespace cairn::daemon
