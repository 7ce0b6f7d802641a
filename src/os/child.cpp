#include "os/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "os/process.h"

namespace cairn::os {

namespace {

struct Prepared {
  const char* executable;
  char* const* argv;
  char* const* environment;
  const char* cwd;
  int socket;
  pid_t parent;
};

// Runs between fork and exec: only async-signal-safe calls. Returns only when something failed.
void become(const Prepared& it) {
  if (setpgid(0, 0) != 0) return;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (getppid() != it.parent) _exit(1);  // the parent died before prctl() took effect
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0 || dup2(it.socket, 0) < 0 || dup2(it.socket, 1) < 0 || dup2(null, 2) < 0) return;
  close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);  // ours are closed by exec anyway
  for (const int number : {SIGPIPE, SIGHUP, SIGXFSZ}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (chdir(it.cwd) != 0) return;
  execve(it.executable, it.argv, it.environment);
}

}  // namespace

Result<Child> spawn_child(const Command& command) {
  int ends[2], report[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno_error("socketpair", errno);
  Fd ours(ends[0]), its(ends[1]);
  if (pipe2(report, O_CLOEXEC) != 0) return errno_error("pipe", errno);
  Fd from(report[0]), to(report[1]);
  if (fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) return errno_error("socketpair", errno);
  std::vector<std::string> variables = command.environment;  // the first of a name counts
  for (std::string& plain : plain_environment(environ)) variables.push_back(std::move(plain));
  const auto argv = exec_pointers(command.argv), environment = exec_pointers(variables);
  const Prepared prepared{command.executable.c_str(), argv.data(), environment.data(),
                          command.cwd.c_str(),        its.get(),   getpid()};
  const pid_t pid = fork();
  if (pid < 0) return errno_error("fork", errno);
  if (pid == 0) {
    become(prepared);
    const int number = errno;
    [[maybe_unused]] const ssize_t written = write(to.get(), &number, sizeof number);
    _exit(127);
  }
  to = Fd();
  int number = 0;
  ssize_t got = 0;
  do got = read(from.get(), &number, sizeof number);
  while (got < 0 && errno == EINTR);
  if (got == sizeof number) {
    waitpid(pid, nullptr, 0);
    return errno_error("start " + command.executable, number);
  }
  return Child{pid, std::move(ours)};
}

bool reap(std::int64_t pid, bool wait) {
  siginfo_t info{};
  const int how = WEXITED | WNOWAIT | (wait ? 0 : WNOHANG);
  if (waitid(P_PID, static_cast<id_t>(pid), &info, how) != 0) return false;
  if (info.si_pid == 0) return true;
  kill_group(pid);  // before its pid can be reused
  waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return false;
}

void kill_group(std::int64_t pid) {
  if (pid > 1) kill(static_cast<pid_t>(-pid), SIGKILL);
}

}  // namespace cairn::os
