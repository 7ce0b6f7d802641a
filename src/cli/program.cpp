#include "cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "os/process.h"
#include "os/socket.h"

namespace cairn::cli {

namespace {

constexpr std::size_t kMaxOutput = 1u << 20;  // far above what the programs that we run print

// A file in memory: unlike a pipe, it never blocks the program.
Result<os::Fd> memory(const char* name, std::string_view bytes) {
  os::Fd file(memfd_create(name, MFD_CLOEXEC));
  if (!file) return errno_error("memory for a program", errno);
  while (!bytes.empty()) {
    const ssize_t put = write(file.get(), bytes.data(), bytes.size());
    if (put < 0) return errno_error("memory for a program", errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string content(const os::Fd& file) {
  std::string text(kMaxOutput, '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// Whether it ended in time; else kills it. Looks every millisecond: `doctor` and `demo` show how long a hook
// took.
bool wait_for(pid_t pid, int& status, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

Result<Ran> run_program(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                        std::string_view input, std::chrono::milliseconds timeout) {
  const os::Fd in = TRY(memory("stdin", input)), out = TRY(memory("stdout", {})),
               err = TRY(memory("stderr", {}));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
  std::vector<std::string> words = argv, variables = environment;
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0].c_str(), &actions, nullptr, pointers(words).data(),
                                 pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return errno_error(argv[0], failed);
  int status = 0;
  if (!wait_for(pid, status, timeout))
    return Error{Code::timeout, argv[0] + " did not end within " + std::to_string(timeout.count()) + " ms"};
  return Ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
}

std::optional<std::string> version_of(std::string_view program, std::chrono::milliseconds timeout) {
  const std::string path = program.starts_with('/') ? std::string(program) : os::find_program(program);
  if (path.empty()) return std::nullopt;
  std::vector<std::string> environment;
  for (char** variable = environ; *variable; ++variable) environment.emplace_back(*variable);
  auto ran = run_program({path, "--version"}, environment, "", timeout);
  if (!ran || ran->exit_code != 0) return std::nullopt;
  return std::move(ran->out);
}

}  // namespace cairn::cli
