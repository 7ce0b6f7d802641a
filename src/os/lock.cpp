#include "os/lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace cairn::os {

// Open-file-description locks (F_OFD_*) belong to an open file, not to a process. The classic ones would be
// released when any descriptor of the file is closed in this process, such as the one of is_held().

// A length of 0 means up to the end of the file, however long it gets.
static struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

// Whether `path` still names the file of `fd`: a lock on a removed file protects nothing.
static bool still_there(int fd, const std::string& path) {
  struct stat held {
  }, named{};
  return fstat(fd, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

Result<FileLock> FileLock::acquire(const std::string& path) {
  // Again when the file was removed or replaced between open() and the lock.
  for (int attempt = 0; attempt < 8; ++attempt) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return errno_error("lock " + path, errno);
    FileLock lock(fd);
    struct flock range = whole_file();
    if (fcntl(fd, F_OFD_SETLK, &range) != 0) {
      if (errno == EAGAIN || errno == EACCES)
        return Error{Code::busy, "lock " + path + ": another process has it"};
      return errno_error("lock " + path, errno);
    }
    if (still_there(fd, path)) return lock;
  }
  return Error{Code::busy, "lock " + path + ": the file is being replaced"};
}

bool FileLock::is_held(const std::string& path) {
  // O_NONBLOCK: something else in its place, such as a pipe, must not block.
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock range = whole_file();
  const bool held = fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
  close(fd);
  return held;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  FileLock old(std::exchange(fd_, std::exchange(other.fd_, -1)));
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

void FileLock::note(const std::string& text) {
  // Only for people and for the pause between starts: the lock works without it, so errors are ignored.
  if (ftruncate(fd_, 0) != 0) return;
  [[maybe_unused]] const ssize_t put = pwrite(fd_, text.data(), text.size(), 0);
}

}  // namespace cairn::os
