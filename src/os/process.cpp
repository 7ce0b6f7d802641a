#include "os/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace cairn::os {

namespace {

// The fields of /proc/PID/stat that we need.
struct ProcStat {
  std::string name;
  char state = '?';
  std::int64_t parent = 0;
  std::uint64_t start = 0;
};

template <class Number>
Number number_in(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<ProcStat> parse_stat(std::string_view text) {
  // The name is in parentheses and may contain blanks and parentheses itself: search for the last one.
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  // Field 1 is the pid, field 2 the name; the third follows the parenthesis.
  std::string_view rest = text.substr(close + 1);
  for (int field = 3; field <= 22; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view value = rest.substr(0, rest.find(' '));
    if (value.empty()) return std::nullopt;
    if (field == 3) stat.state = value[0];
    if (field == 4) stat.parent = number_in<std::int64_t>(value);
    if (field == 22) stat.start = number_in<std::uint64_t>(value);
    rest.remove_prefix(value.size());
  }
  return stat;
}

// The state of a process. When it cannot be read, errno has the reason.
std::optional<ProcStat> stat_of(std::int64_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char text[1024];
  const ssize_t got = read(fd, text, sizeof text);
  const int number = errno;
  close(fd);
  errno = number;
  if (got <= 0) return std::nullopt;
  return parse_stat({text, static_cast<std::size_t>(got)});
}

bool is_shell(std::string_view name) {
  if (name.starts_with('-')) name.remove_prefix(1);  // a login shell
  constexpr std::array<std::string_view, 8> kShells = {"sh",   "bash", "dash",    "zsh",
                                                       "fish", "ksh",  "busybox", "ash"};
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

}  // namespace

bool RealProcesses::alive(const ProcessKey& key) {
  if (key.pid == 0) return true;
  errno = 0;
  const std::optional<ProcStat> stat = stat_of(key.pid);
  // Only "no such process" counts as dead: a session must not be ended because /proc could not be read.
  if (!stat) return errno != ENOENT && errno != ESRCH;
  return stat->start == key.start && stat->state != 'Z' && stat->state != 'X';
}

// The host may start the hook through one or more shells.
ProcessKey nearest_host() {
  std::int64_t pid = getppid();
  for (int step = 0; step < 8 && pid > 0; ++step) {
    const std::optional<ProcStat> stat = stat_of(pid);
    if (!stat) break;
    if (!is_shell(stat->name)) return {pid, stat->start};
    pid = stat->parent;
  }
  return {};
}

std::string executable_path() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == sizeof path) return {};
  std::string_view text(path, static_cast<std::size_t>(size));
  // An upgrade replaced the file while it ran; the path now names the newer one.
  constexpr std::string_view kDeleted = " (deleted)";
  if (text.ends_with(kDeleted)) text.remove_suffix(kDeleted.size());
  return std::string(text);
}

bool may_run(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

std::string find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + std::string(name);
    // A relative entry would be looked up in the directory that happens to be current.
    if (candidate.starts_with('/') && may_run(candidate)) return candidate;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return {};
}

// Variables without secrets that any program needs.
static bool is_common_variable(std::string_view name) {
  static constexpr std::string_view kPlain[] = {"HOME", "PATH", "LANG", "TZ", "USER", "LOGNAME", "TMPDIR"};
  return name.starts_with("XDG_") || name.starts_with("LC_") ||
         std::find(std::begin(kPlain), std::end(kPlain), name) != std::end(kPlain);
}

static bool daemon_needs(std::string_view name) {
  // CAIRN_DISABLE and CAIRN_AGENT are about the caller, not the daemon.
  if (name == "CAIRN_DISABLE" || name == "CAIRN_AGENT") return false;
  if (is_common_variable(name) || name.starts_with("CAIRN_")) return true;
  static constexpr std::string_view kKept[] = {
      "http_proxy",
      "https_proxy",
      "all_proxy",
      "no_proxy",  //
      "HTTP_PROXY",
      "HTTPS_PROXY",
      "ALL_PROXY",
      "NO_PROXY",  //
      "SSL_CERT_FILE",
      "SSL_CERT_DIR",
      "CURL_CA_BUNDLE",
      "NODE_EXTRA_CA_CERTS",  //
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
      "ANTHROPIC_BASE_URL",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CONFIG_DIR",
      "OPENAI_API_KEY",
      "OPENAI_BASE_URL",
      "OPENROUTER_API_KEY",
      "GEMINI_API_KEY",
      "GOOGLE_API_KEY",
  };
  return std::find(std::begin(kKept), std::end(kKept), name) != std::end(kKept);
}

// The variables whose name is accepted, as NAME=VALUE.
static std::vector<std::string> variables_that(char** environment, bool (*needs)(std::string_view)) {
  std::vector<std::string> kept;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && needs(text.substr(0, equals))) kept.emplace_back(text);
  }
  return kept;
}

std::vector<std::string> reduced_environment(char** environment) {
  return variables_that(environment, daemon_needs);
}

std::vector<std::string> plain_environment(char** environment) {
  return variables_that(environment, is_common_variable);
}

// open() takes the lowest free number, which is `fd`: the lower ones are open already.
void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int opened = open("/dev/null", O_RDWR);
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<std::int64_t> spawn_detached(const std::string& executable, const std::vector<std::string>& argv,
                                    const std::vector<std::string>& environment) {
  // posix_spawn shares the caller's memory until exec, so a hook does not pay for copying page tables.
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  // None of the host's descriptors stays open: a host waits until all copies of its pipes are closed.
  for (int fd = 0; fd <= 2; ++fd) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawn_file_actions_addchdir_np(&files, "/");
  // Signals that the caller blocks or ignores (a hook ignores SIGPIPE) would stay so through exec.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = 0;
  const int number = posix_spawn(&pid, executable.c_str(), &files, &attributes, exec_pointers(argv).data(),
                                 exec_pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (number != 0) return errno_error("start " + executable, number);
  return std::int64_t{pid};
}

}  // namespace cairn::os
