#include "os/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace cairn::os {

// The error in errno. Kept first: building the text may allocate, which may change errno.
static Error failed(std::string_view what, std::string_view path) {
  const int number = errno;
  std::string text(what);
  text.append(" ").append(path);
  return errno_error(text, number);
}

namespace {

class RealFile final : public File {
 public:
  RealFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  RealFile(const RealFile&) = delete;
  RealFile& operator=(const RealFile&) = delete;
  ~RealFile() override { close(fd_); }

  Result<std::size_t> read_at(std::uint64_t offset, char* to, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = pread(fd_, to + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed("read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Status write_at(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return failed("write", path_);
      offset += static_cast<std::uint64_t>(put);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

  Status truncate(std::uint64_t size) override {
    if (ftruncate(fd_, static_cast<off_t>(size)) != 0) return failed("truncate", path_);
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat st {};
    if (fstat(fd_, &st) != 0) return failed("stat", path_);
    return static_cast<std::uint64_t>(st.st_size);
  }

  // fdatasync() writes the size too, but not times, which are not needed after a power cut.
  Status sync() override {
    if (fdatasync(fd_) != 0) return failed("sync", path_);
    return {};
  }

  Status give_name(const std::string& path) override {
    // Through /proc: to link a descriptor itself (AT_EMPTY_PATH) needs a privilege.
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    if (errno == EEXIST) return Error{Code::busy, "name " + path + ": it exists"};
    return failed("name", path);
  }

 private:
  int fd_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<File>> RealDisk::open(const std::string& path, Open how) {
  int flags = O_CLOEXEC;
  switch (how) {
    case Open::read: flags |= O_RDONLY | O_NONBLOCK; break;  // opening a pipe must not block
    case Open::read_own: flags |= O_RDONLY | O_NONBLOCK | O_NOFOLLOW; break;
    case Open::read_write: flags |= O_RDWR | O_CREAT | O_NOFOLLOW; break;
    case Open::create_new: flags |= O_RDWR | O_CREAT | O_EXCL; break;
    case Open::append_own: flags |= O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW; break;
    case Open::unnamed: flags |= O_RDWR | O_TMPFILE; break;
  }
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0 && errno == EEXIST) return Error{Code::busy, "open " + path + ": it exists"};
  // A file system without such files says EOPNOTSUPP. Where the flag is unknown, it looks like opening a
  // directory for writing, which is refused with EISDIR or EINVAL.
  if (fd < 0 && how == Open::unnamed && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
    return Error{Code::unsupported, "open " + path + ": no files without a name here"};
  if (fd < 0 && (errno == ELOOP || errno == ENXIO))  // a link, a socket
    return Error{Code::invalid, "open " + path + ": not a regular file"};
  if (fd < 0) return failed("open", path);
  // Checked with fstat() after opening: a check before could be about another file than the one opened.
  auto file = std::make_unique<RealFile>(fd, path);
  struct stat st {};
  const bool own = how == Open::read_own || how == Open::append_own;
  if ((own || how == Open::read) && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)))
    return Error{Code::invalid, "open " + path + ": not a regular file"};
  if (own && st.st_uid != geteuid())
    return Error{Code::invalid, "open " + path + ": it belongs to another user"};
  return std::unique_ptr<File>(std::move(file));
}

Status RealDisk::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename to", to);
  return {};
}

Status RealDisk::remove(const std::string& path) {
  if (unlink(path.c_str()) != 0) return failed("remove", path);
  return {};
}

Status RealDisk::make_dir(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    // A strict umask may have removed bits of 0700.
    if (chmod(path.c_str(), 0700) != 0) return failed("chmod", path);
    return {};
  }
  if (errno != EEXIST) return failed("make directory", path);
  if (!TRY(stat(path)).is_dir)
    return Error{Code::invalid, "make directory " + path + ": a file is in the way"};
  return {};
}

Result<std::vector<std::string>> RealDisk::list(const std::string& path) {
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr) return failed("list", path);
  std::vector<std::string> names;
  errno = 0;  // readdir() returns null at the end and on an error; only errno tells them apart
  while (const dirent* entry = readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int number = errno;
  closedir(dir);
  errno = number;
  if (number != 0) return failed("list", path);
  return names;
}

Result<Stat> RealDisk::stat(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return failed("stat", path);
  return Stat{
      .is_dir = S_ISDIR(st.st_mode),
      .size = static_cast<std::uint64_t>(st.st_size),
      .modified_ns = std::int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec,
      .inode = st.st_ino,
  };
}

Status RealDisk::sync_dir(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failed("open", path);
  const int result = fsync(fd);
  const int number = errno;
  close(fd);
  errno = number;
  if (result != 0) return failed("sync", path);
  return {};
}

std::string Disk::real_path(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

// Binary search for the part that exists: a path of thousands of parts costs a dozen calls.
std::string RealDisk::real_path(const std::string& path) {
  const std::string normal = Disk::real_path(path);
  std::vector<std::size_t> ends;  // of normal's beginnings, shortest first
  for (std::size_t at = normal.find('/', 1); at < PATH_MAX; at = normal.find('/', at + 1)) ends.push_back(at);
  if (normal.size() < PATH_MAX) ends.push_back(normal.size());
  const auto exists = [&](std::size_t end) { return access(normal.substr(0, end).c_str(), F_OK) == 0; };
  const auto found = std::partition_point(ends.begin(), ends.end(), exists);
  // `found` is the first beginning that does not exist, so the one before it is resolved.
  const std::size_t end = found == ends.begin() ? 0 : *std::prev(found);
  char resolved[PATH_MAX];
  if (end == 0 || realpath(normal.substr(0, end).c_str(), resolved) == nullptr) return normal;
  return Disk::real_path(resolved + normal.substr(end));
}

static std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

// From the end of the path: usually only the last part is missing, or none.
Status make_dirs(Disk& disk, const std::string& path) {
  const Status made = disk.make_dir(path);
  if (made.ok() || made.error().code != Code::not_found) return made;
  const std::string parent = parent_of(path);
  if (parent.empty() || parent == path) return made;
  TRY(make_dirs(disk, parent));
  return disk.make_dir(path);
}

Result<std::string> read_file(Disk& disk, const std::string& path, std::size_t max, Open how) {
  const std::unique_ptr<File> file = TRY(disk.open(path, how));
  const std::uint64_t size = TRY(file->size());
  if (size > max)
    return Error{Code::invalid, "read " + path + ": longer than " + std::to_string(max) + " bytes"};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  bytes.resize(TRY(file->read_at(0, bytes.data(), bytes.size())));
  return bytes;
}

static Status write_and_sync(Disk& disk, const std::string& path, std::string_view bytes) {
  const std::unique_ptr<File> file = TRY(disk.open(path, Open::read_write));
  TRY(file->truncate(0));
  TRY(file->write_at(0, bytes));
  return file->sync();
}

Status append_to_own(Disk& disk, const std::string& path, std::string_view bytes) {
  const auto file = TRY(disk.open(path, Open::append_own));
  return file->write_at(TRY(file->size()), bytes);
}

// The order matters. The bytes are synced before the rename: otherwise a power cut could leave the new name
// with an empty file. The directory is synced after it: otherwise the rename itself could be lost.
Status replace_file(Disk& disk, const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new";
  Status done = write_and_sync(disk, beside, bytes);
  if (done.ok()) done = disk.rename(beside, path);
  if (!done.ok()) {
    ignore(disk.remove(beside));
    return done;
  }
  return disk.sync_dir(parent_of(path));
}

}  // namespace cairn::os
