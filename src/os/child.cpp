#include "os/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "os/process.h"

namespace cairn::os {

// Starting: everything that allocates is prepared before fork(), because another thread may hold the lock of
// the allocator at that moment, and it would never be released in the child. An error of the child comes back
// through the pipe `report`: the child writes errno to it. A successful exec closes the pipe (O_CLOEXEC), and
// the parent reads its end.

namespace {

// What become() needs, as plain pointers.
struct Prepared {
  const char* executable;
  char* const* argv;
  char* const* environment;
  const char* cwd;
  int socket;
  pid_t parent;
  int rules;  // -1: none
  const Limits* limits;
};

// The user's own programs come first.
constexpr int kNiceness = 5;

// Both limits, the soft and the hard one, so that the child cannot raise it. A lower one that exists stays.
bool limit(int resource, std::uint64_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return false;
  const rlim_t value = now.rlim_max < most ? now.rlim_max : most;
  const rlimit wanted{value, value};
  return setrlimit(resource, &wanted) == 0;
}

// The shadow memory of ThreadSanitizer counts as data: a child built with it could not start.
#ifdef CAIRN_CHECKS_THREADS
constexpr bool kLimitsData = false;
#else
constexpr bool kLimitsData = true;
#endif

bool confine(const Prepared& it) {
  const Limits& most = *it.limits;
  return limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, most.cpu_seconds) &&
         limit(RLIMIT_FSIZE, most.file_bytes) && (!kLimitsData || limit(RLIMIT_DATA, most.data_bytes)) &&
         limit(RLIMIT_NOFILE, most.open_files) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         (it.rules < 0 || apply_rules(it.rules));
}

// Runs between fork and exec: only async-signal-safe calls. Returns only when something failed.
void become(const Prepared& it) {
  if (setpgid(0, 0) != 0) return;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (getppid() != it.parent) _exit(1);  // the parent died before prctl() took effect
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0 || dup2(it.socket, 0) < 0 || dup2(it.socket, 1) < 0 || dup2(null, 2) < 0) return;
  close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);  // for those of libraries: our own have O_CLOEXEC
  for (const int number : {SIGPIPE, SIGHUP, SIGXFSZ}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpriority(PRIO_PROCESS, 0, kNiceness);
  if (chdir(it.cwd) != 0 || !confine(it)) return;
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
  Fd rules;
  if (command.may_write) {
    std::vector<Writable> places = *command.may_write;
    places.push_back({"/dev/null", Writable::What::file});
    rules = TRY(write_rules(places));
  }
  const Prepared prepared{command.executable.c_str(),
                          argv.data(),
                          environment.data(),
                          command.cwd.c_str(),
                          its.get(),
                          getpid(),
                          rules.get(),
                          &command.limits};
  const pid_t pid = fork();
  if (pid < 0) return errno_error("fork", errno);
  if (pid == 0) {
    become(prepared);
    const int number = errno;
    [[maybe_unused]] const ssize_t written = write(to.get(), &number, sizeof number);
    _exit(127);
  }
  to = Fd();  // otherwise our own copy would keep the pipe open, and read() would never return
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
  // WNOWAIT: look first, and leave the process a zombie. Its pid, which is also the id of the group, cannot
  // be reused before it is reaped.
  const int how = WEXITED | WNOWAIT | (wait ? 0 : WNOHANG);
  if (waitid(P_PID, static_cast<id_t>(pid), &info, how) != 0) return false;
  if (info.si_pid == 0) return true;
  kill_group(pid);
  waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return false;
}

void kill_group(std::int64_t pid) {
  // kill(-1) would end every process of the user, and kill(0) our own group.
  if (pid > 1) kill(static_cast<pid_t>(-pid), SIGKILL);
}

}  // namespace cairn::os
