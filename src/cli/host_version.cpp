#include "cli/host_version.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <thread>

#include "os/socket.h"

namespace cairn::cli {

namespace {

constexpr std::size_t kMaxOutput = 4096;
constexpr std::array kFirstWithExecForm = {2, 1, 0};

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

// The output until the pipe is closed; nothing when that takes too long.
std::optional<std::string> read_output(int fd, Clock::time_point end) {
  std::string text;
  for (;;) {
    pollfd p{fd, POLLIN, 0};
    const int ready = poll(&p, 1, left_ms(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char part[512];
    const ssize_t got = read(fd, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    if (text.size() < kMaxOutput) text.append(part, static_cast<std::size_t>(got));
  }
}

// Its exit code. Kills it when it does not end in time.
int finish(pid_t pid, Clock::time_point end) {
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (left_ms(end) == 0) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::optional<std::string> version_of(const std::string& program, std::chrono::milliseconds timeout) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  os::Fd read_end(ends[0]);
  os::Fd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = program, flag = "--version";
  char* const argv[] = {name.data(), flag.data(), nullptr};
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  write_end = os::Fd();
  const auto end = Clock::now() + timeout;
  auto text = read_output(read_end.get(), end);
  return finish(pid, end) == 0 ? text : std::nullopt;
}

std::optional<std::array<int, 3>> parse_version(std::string_view text) {
  const auto is_digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(at) || (at > 0 && is_digit(at - 1))) continue;
    std::array<int, 3> numbers{};
    const char* from = text.data() + at;
    const char* const end = text.data() + text.size();
    std::size_t read = 0;
    while (read < 3) {
      const auto [next, error] = std::from_chars(from, end, numbers[read]);
      if (error != std::errc()) break;
      from = next;
      if (++read == 3 || from == end || *from != '.') break;
      ++from;
    }
    if (read == 3) return numbers;
  }
  return std::nullopt;
}

bool takes_exec_form(const std::optional<std::string>& version_text) {
  const auto version = version_text ? parse_version(*version_text) : std::nullopt;
  return !version || *version >= kFirstWithExecForm;
}

}  // namespace cairn::cli
