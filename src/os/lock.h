// A lock on a file, such as the one that allows only one daemon per home: an open-file-description lock,
// which the kernel releases however the holder dies.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::os {

// Holds an exclusive lock on a file until destroyed. Movable.
class FileLock {
 public:
  // Takes the lock at once or fails with `busy`. Creates the file with mode 0600.
  static Result<FileLock> acquire(const std::string& path);
  // Whether someone holds it. Never takes it. A missing file is not held.
  static bool is_held(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Replaces the file's content: the holder's pid and version for people, or the record of a daemon's start.
  void note(const std::string& text);

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace cairn::os
