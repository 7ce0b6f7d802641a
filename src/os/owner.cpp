#include "os/owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/disk.h"
#include "os/socket.h"

namespace cairn::os {

static Error another_users(const std::string& path, uid_t owner) {
  return {Code::denied, path + " belongs to another user (" + std::to_string(owner) +
                            "): `chown` it to yourself, or set CAIRN_HOME to a directory of yours"};
}

Status own_directory(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return errno_error("look at " + path, errno);
  if (S_ISLNK(st.st_mode)) {
    // The owner of a link decides where it points, so the owner must be as trusted as that of the directory.
    if (st.st_uid != geteuid() && st.st_uid != 0) return another_users(path, st.st_uid);
    if (stat(path.c_str(), &st) != 0) return errno_error("look at " + path, errno);
  }
  if (!S_ISDIR(st.st_mode)) return Error{Code::denied, path + " is not a directory: move it away"};
  if (st.st_uid != geteuid()) return another_users(path, st.st_uid);
  // The sticky bit is for directories that all users write in: others could put files among ours.
  if ((st.st_mode & S_ISVTX) != 0)
    return Error{Code::denied, path + " is open to everybody: set CAIRN_HOME to a directory of yours"};
  return {};
}

Status own_file(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return errno_error("look at " + path, errno);
  }
  if (S_ISLNK(st.st_mode))
    return Error{Code::denied, path + " is a link: remove it; only the home itself may be a link"};
  if (!S_ISREG(st.st_mode) && !S_ISSOCK(st.st_mode))
    return Error{Code::denied, path + " is not a file: move it away"};
  if (st.st_uid != geteuid()) return another_users(path, st.st_uid);
  return {};
}

Status create_private(const std::string& path) {
  auto created = RealDisk().open(path, Open::create_new);
  if (created.ok() || created.error().code == Code::busy) return {};
  return std::move(created).error();
}

Status close_to_others(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return errno_error("look at " + path, errno);
  if ((st.st_mode & 077) != 0 && chmod(path.c_str(), st.st_mode & 0700) != 0)
    return errno_error("chmod " + path, errno);
  return {};
}

Result<std::string> read_secret(const std::string& path, std::size_t max) {
  // The user names this path: it may be a pipe, which must not block, or a terminal. A link is allowed. The
  // checks are of the file that it leads to.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return errno_error("open " + path, errno);
  struct stat st {};
  if (fstat(file.get(), &st) != 0) return errno_error("look at " + path, errno);
  if (!S_ISREG(st.st_mode)) return Error{Code::denied, path + " is not a file"};
  if (st.st_uid != geteuid()) return Error{Code::denied, path + " belongs to another user"};
  if ((st.st_mode & 077) != 0)
    return Error{Code::denied, path + " is open to other users: `chmod 600 " + path + "`"};
  std::string text(max + 1, '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(), 0);
  if (got < 0) return errno_error("read " + path, errno);
  if (static_cast<std::size_t>(got) > max) return Error{Code::invalid, path + " is too long"};
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace cairn::os
