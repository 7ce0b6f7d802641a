#include "cli/obstacle.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/shell.h"
#include "base/text.h"
#include "hook/failures.h"
#include "os/disk.h"
#include "os/lock.h"

namespace cairn::cli {

namespace {

constexpr std::int64_t kKeyBytes = 32;

std::optional<struct stat> look_at(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return std::nullopt;
  // A link to a directory is followed, because the home may be one. A link in place of a file is an obstacle.
  if (S_ISLNK(info.st_mode)) {
    struct stat target;
    if (stat(path.c_str(), &target) == 0 && S_ISDIR(target.st_mode)) return target;
  }
  return info;
}

std::string_view type_name(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return "a file";
  if (S_ISDIR(info.st_mode)) return "a directory";
  if (S_ISLNK(info.st_mode)) return "a link";
  if (S_ISFIFO(info.st_mode)) return "a FIFO";
  if (S_ISSOCK(info.st_mode)) return "a socket";
  return "a device";
}

std::string move_away(const std::string& path) {
  return fmt::format("mv {0} {0}.old", shell_word(path));
}

// The mount point of the file system of `path`: the last directory upwards that is on the same device.
std::string mount_point(const std::string& path) {
  std::filesystem::path at = path;
  struct stat here, above;
  while (at.has_relative_path() && stat(at.c_str(), &here) == 0 &&
         stat(at.parent_path().c_str(), &above) == 0 && here.st_dev == above.st_dev)
    at = at.parent_path();
  return at.string();
}

// The command repairs all of the home, not only this path.
Obstacle not_writable(const std::string& path, int error, const hook::Home& home) {
  if (error == EROFS)
    return {Obstacle::Kind::writable, path + " is on a read-only file system",
            fmt::format("sudo mount -o remount,rw {}, or set CAIRN_HOME to a directory on another disk",
                        shell_word(mount_point(path)))};
  const std::string mine = shell_word(path.starts_with(home.data) ? home.data : path);
  return {Obstacle::Kind::writable, fmt::format("{} cannot be written: {}", path, std::strerror(error)),
          fmt::format("sudo chown -R {} {} && chmod -R u+rwX {}", geteuid(), mine, mine)};
}

// Checks a directory of ours, or the nearest existing one above a home that does not exist yet.
void check_directory(const std::string& path, const hook::Home& home, std::vector<Obstacle>& found) {
  const auto info = look_at(path);
  if (!info) return;
  if (!S_ISDIR(info->st_mode))
    found.push_back({Obstacle::Kind::layout, fmt::format("{} is {}, not a directory", path, type_name(*info)),
                     move_away(path)});
  else if (access(path.c_str(), W_OK | X_OK) != 0)
    found.push_back(not_writable(path, errno, home));
}

void check_file(const std::string& path, bool socket, const hook::Home& home, std::vector<Obstacle>& found) {
  const auto info = look_at(path);
  if (!info) return;
  if (!S_ISREG(info->st_mode) && !(socket && S_ISSOCK(info->st_mode)))
    found.push_back({Obstacle::Kind::layout,
                     fmt::format("{} is {}, not a {}", path, type_name(*info), socket ? "socket" : "file"),
                     move_away(path)});
  else if (access(path.c_str(), R_OK | W_OK) != 0)
    found.push_back(not_writable(path, errno, home));
}

void check_key(const hook::Home& home, std::vector<Obstacle>& found) {
  const auto info = look_at(home.key());
  if (!info || !S_ISREG(info->st_mode) || info->st_size == kKeyBytes) return;
  found.push_back(
      {Obstacle::Kind::key,
       fmt::format(
           "{} has {} bytes instead of {}; restore it from a copy if you have one: with a new one, what "
           "was forgotten can come back",
           home.key(), info->st_size, kKeyBytes),
       move_away(home.key())});
}

std::string nearest_existing(std::string path) {
  while (path.size() > 1 && !look_at(path)) path = std::filesystem::path(path).parent_path().string();
  return path;
}

// Whether that process has the file open.
bool has_open(pid_t pid, const struct stat& file) {
  const std::string directory = fmt::format("/proc/{}/fd", pid);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    struct stat info;
    if (stat(entry.path().c_str(), &info) == 0 && info.st_dev == file.st_dev && info.st_ino == file.st_ino)
      return true;
  }
  return false;
}

}  // namespace

std::vector<Obstacle> obstacles_of(const hook::Home& home) {
  std::vector<Obstacle> found;
  check_directory(nearest_existing(home.data), home, found);
  if (!found.empty()) return found;  // everything below has the same cause
  for (const std::string& part : {home.inbox(), home.inbox() + "/tmp", home.inbox() + "/new",
                                  home.inbox() + "/cur", home.inbox() + "/bad", home.logs()})
    check_directory(part, home, found);
  const std::string db = home.database();
  for (const std::string& file : {db, db + "-wal", db + "-shm", db + ".state", home.lock(), home.start(),
                                  home.flags(), home.key(), home.log_file()})
    check_file(file, false, home, found);
  check_file(home.socket(), true, home, found);
  check_key(home, found);
  return found;
}

std::optional<pid_t> daemon_process(os::Disk& disk, const hook::Home& home) {
  if (!os::FileLock::is_held(home.lock())) return std::nullopt;
  // "pid 12 version 0.1.0": another process may have that number now, so check its open files.
  const std::string note = os::read_file(disk, home.lock(), 4096).value_or("");
  const auto words = split(trim(note), ' ');
  struct stat file;
  if (words.size() < 2 || words[0] != "pid" || stat(home.lock().c_str(), &file) != 0) return std::nullopt;
  const pid_t pid = std::atoi(std::string(words[1]).c_str());
  if (pid <= 1 || !has_open(pid, file)) return std::nullopt;
  return pid;
}

std::string last_error(os::Disk& disk, const hook::Home& home) {
  auto file = disk.open(home.log_file(), os::Open::read);
  if (!file) return {};
  constexpr std::uint64_t kTail = 2000;
  const std::uint64_t size = (*file)->size().value_or(0);
  std::string text(std::min(size, kTail), '\0');
  text.resize((*file)->read_at(size - text.size(), text.data(), text.size()).value_or(0));
  const std::string_view all = trim(text);
  const std::string_view line = all.substr(all.rfind('\n') + 1);
  constexpr std::string_view kMark = " error ";
  const std::size_t at = line.find(kMark);
  return at == std::string_view::npos ? "" : std::string(line.substr(at + kMark.size()));
}

std::string unwritten_events(os::Disk& disk, const hook::Home& home) {
  const auto noted = hook::read_failures(disk, home);
  if (noted.empty()) return {};
  const std::string& why = noted.back().why;
  return fmt::format("{} could not be written{}{}",
                     noted.size() == 1 ? "1 event" : fmt::format("{} events", noted.size()),
                     why.empty() ? "" : ": ", why);
}

}  // namespace cairn::cli
