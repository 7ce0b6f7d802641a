// Checks of the home: directories, permissions, disk, settings, clock.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/shell.h"
#include "base/time.h"
#include "cli/doctor.h"

namespace cairn::cli {

namespace {

constexpr std::string_view kHomeGroup = "Home";
constexpr std::int64_t kLowSpace = 200ll << 20, kNoSpace = 10ll << 20;
// An earlier time is wrong: this version did not exist then.
constexpr std::int64_t kReleasedMs = 1'793'491'200'000;  // 2026-11-01

struct FileSystem {
  unsigned long magic;
  const char* name;
};
// SQLite's locks and shared memory are not reliable on these. `magic`: f_type of statfs(2).
constexpr std::array kRemote = {FileSystem{0x6969, "NFS"},      FileSystem{0xFF534D42, "CIFS"},
                                FileSystem{0xFE534D42, "SMB2"}, FileSystem{0x517B, "SMB"},
                                FileSystem{0x65735546, "FUSE"}, FileSystem{0x01021997, "9p"},
                                FileSystem{0x00C36400, "Ceph"}, FileSystem{0x5346414F, "AFS"}};

bool exists(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

std::string not_yet(const hook::Home& home) {
  return home.data + " is made by the first event";
}

// The first obstacle of that kind.
const Obstacle* obstacle(const Installation& here, Obstacle::Kind kind) {
  for (const Obstacle& each : here.obstacles)
    if (each.kind == kind) return &each;
  return nullptr;
}

Finding check_directories(Installation& here) {
  const hook::Home& home = here.shell.home();
  if (const Obstacle* wrong = obstacle(here, Obstacle::Kind::layout)) return failed(wrong->what, wrong->fix);
  if (!exists(home.data)) return skipped(not_yet(home));
  std::string missing;
  for (const std::string& directory : home_directories(home))
    if (!exists(directory)) missing += (missing.empty() ? "" : ", ") + directory.substr(home.data.size());
  // Hooks and the daemon create them when needed.
  if (!missing.empty())
    return warned(fmt::format("{}: not there: {}", home.data, missing), "cairn doctor --fix");
  return passed(home.data);
}

// Writes a file that never gets a name, so that nothing is left behind. Where that is not supported, only the
// permissions are checked.
Status try_to_write(os::Disk& disk, const std::string& directory) {
  auto made = disk.open(directory, os::Open::unnamed);
  if (made) return (*made)->write_at(0, "probe");
  if (made.error().code != Code::unsupported) return made.error();
  return access(directory.c_str(), W_OK | X_OK) == 0 ? Status() : errno_error("write in " + directory, errno);
}

Finding check_writable(Installation& here) {
  const hook::Home& home = here.shell.home();
  if (const Obstacle* wrong = obstacle(here, Obstacle::Kind::writable))
    return failed(wrong->what + ": events are lost", wrong->fix);
  if (obstacle(here, Obstacle::Kind::layout)) return skipped("see directories");
  if (!exists(home.data)) return skipped(not_yet(home));
  for (const std::string& directory : home_directories(home)) {
    if (!exists(directory)) continue;
    if (const Status written = try_to_write(here.shell.disk(), directory); !written)
      return failed(fmt::format("{} cannot be written: {}", directory, written.error().message),
                    written.error().code == Code::full ? "free some space on that disk"
                                                       : "ls -ld " + shell_word(directory));
  }
  return passed("files can be written in each directory");
}

Finding check_key(Installation& here) {
  const hook::Home& home = here.shell.home();
  if (const Obstacle* wrong = obstacle(here, Obstacle::Kind::key)) return failed(wrong->what, wrong->fix);
  if (!exists(home.key())) return skipped("made by the first daemon");
  return passed("32 bytes");
}

Finding check_owner(Installation& here) {
  const hook::Home& home = here.shell.home();
  if (obstacle(here, Obstacle::Kind::layout)) return skipped("see directories");
  if (!exists(home.data)) return skipped(not_yet(home));
  const Status own = home.check();
  if (own) return passed("everything is yours");
  // A directory that all users may write to (/tmp) must not be taken over by a chown.
  struct stat info;
  const bool shared = stat(home.data.c_str(), &info) == 0 && (info.st_mode & S_ISVTX) != 0;
  return failed(own.error().message + "; hooks store nothing",
                shared ? "set CAIRN_HOME to a directory of yours"
                       : fmt::format("sudo chown -R {} {}", geteuid(), shell_word(home.data)));
}

Finding check_modes(Installation& here) {
  const hook::Home& home = here.shell.home();
  // --fix does not touch a home with obstacles: its files may belong to another user.
  if (!here.obstacles.empty()) return skipped("see above");
  if (!exists(home.data)) return skipped(not_yet(home));
  const auto wrong = wrong_modes(here.shell.disk(), home);
  if (!wrong.empty())
    return failed(fmt::format("others may read {}{}", wrong[0],
                              wrong.size() > 1 ? fmt::format(" and {} more", wrong.size() - 1) : ""),
                  "cairn doctor --fix");
  return passed("directories 0700, files 0600");
}

Finding check_disk(Installation& here) {
  const hook::Home& home = here.shell.home();
  if (!exists(home.data)) return skipped(not_yet(home));
  struct statfs info;
  if (statfs(home.data.c_str(), &info) != 0)
    return warned(fmt::format("{}: {}", home.data, std::strerror(errno)), "ls -ld " + home.data);
  for (const FileSystem& remote : kRemote)
    if (static_cast<unsigned long>(info.f_type) == remote.magic)
      return warned(fmt::format("{} is on {}: file locks may not work there", home.data, remote.name),
                    "set CAIRN_HOME to a directory on a local disk");
  return passed("a local file system");
}

Finding check_space(Installation& here) {
  const hook::Home& home = here.shell.home();
  struct statvfs info;
  if (statvfs(home.data.c_str(), &info) != 0) return skipped(not_yet(home));
  const std::int64_t free =
      static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
  const std::string text = size_text(free) + " free";
  if (free < kNoSpace) return failed(text + ": events will be lost", "free some space on that disk");
  if (free < kLowSpace) return warned(text, "free some space on that disk");
  return passed(text);
}

Finding check_settings(Installation& here) {
  const auto& problems = here.settings.problems();
  const std::string& file = here.shell.home().config_file;
  if (problems.empty()) return passed(exists(file) ? file : "all defaults");
  std::string text;
  for (const auto& problem : problems) text += (text.empty() ? "" : "; ") + problem.message;
  return failed(text + ": the default is used",
                problems[0].key == "config.toml" ? "correct " + file + " by hand"
                                                 : fmt::format("cairn config set {} VALUE", problems[0].key));
}

Finding check_capture(Installation& here) {
  const char* disable = std::getenv("CAIRN_DISABLE");
  if (disable && *disable && std::string_view(disable) != "0")
    return warned("CAIRN_DISABLE is set: hooks started from here do nothing", "unset CAIRN_DISABLE");
  if (!here.settings.flag("capture.enabled"))
    return warned("capture.enabled is false: nothing is recorded", "cairn config set capture.enabled true");
  return passed("on");
}

Finding check_clock(Installation& here) {
  os::Clock& clock = here.shell.clock();
  if (epoch_ms(clock.now()) < kReleasedMs)
    return failed(fmt::format("it is {} here, before this version was made", iso8601(clock.now())),
                  "set the clock, for instance: sudo timedatectl set-ntp true");
  if (clock.boot_id().empty())
    return warned("the boot id cannot be read: order across a restart is by wall time",
                  "cat /proc/sys/kernel/random/boot_id");
  return passed(iso8601(clock.now()));
}

}  // namespace

std::vector<std::string> home_directories(const hook::Home& home) {
  return {home.data,
          home.inbox(),
          home.inbox() + "/tmp",
          home.inbox() + "/new",
          home.inbox() + "/cur",
          home.inbox() + "/bad",
          home.logs()};
}

// Files below inbox/ and archive/ are not looked at: other users cannot reach them in a closed home.
std::vector<std::string> wrong_modes(os::Disk& disk, const hook::Home& home) {
  std::vector<std::string> paths = home_directories(home), wrong;
  paths.insert(paths.end(), {home.log_file(), home.config_file});
  for (const std::string& name : disk.list(home.data).value_or({}))
    if (const std::string path = home.data + "/" + name;
        hook::Home::creates(name) && std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(path);
  for (const std::string& path : paths) {
    struct stat info;
    if (stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0) wrong.push_back(path);
  }
  return wrong;
}

std::vector<Check> home_checks() {
  return {{kHomeGroup, "directories", check_directories},
          {kHomeGroup, "writable", check_writable},
          {kHomeGroup, "key", check_key},
          {kHomeGroup, "owner", check_owner},
          {kHomeGroup, "private", check_modes},
          {kHomeGroup, "disk", check_disk},
          {kHomeGroup, "space", check_space},
          {kHomeGroup, "settings", check_settings},
          {kHomeGroup, "capture", check_capture},
          {kHomeGroup, "clock", check_clock}};
}

}  // namespace cairn::cli
