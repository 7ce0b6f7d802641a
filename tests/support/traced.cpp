#include "support/traced.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace cairn::test {

namespace {

constexpr long kChanging[] = {
    SYS_write,    SYS_pwrite64,  SYS_writev,  SYS_fsync,   SYS_fdatasync, SYS_ftruncate, SYS_openat,
    SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_connect, SYS_sendto,    SYS_sendmsg,   SYS_fcntl,
#ifdef SYS_rename
    SYS_rename,   SYS_renameat,  SYS_unlink,  SYS_mkdir,   SYS_open,
#endif
};

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

pid_t start(const Program& program) {
  int in[2];
  if (pipe2(in, O_CLOEXEC) != 0) die("pipe");
  if (write(in[1], program.input.data(), program.input.size()) < 0) die("write");
  close(in[1]);
  const auto argv = pointers(program.argv), env = pointers(program.env);
  const pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(in[0], 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    if (!program.cwd.empty() && chdir(program.cwd.c_str()) != 0) _exit(126);
    setsid();
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execve(argv[0], argv.data(), env.data());
    _exit(127);
  }
  close(in[0]);
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) die("a traced program did not start");
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, pid, nullptr, kOptions) != 0) die("ptrace");
  ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
  return pid;
}

// Whether this stop is the beginning of a call that counts.
bool counts(pid_t thread, Calls which) {
  __ptrace_syscall_info info{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return false;
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
  return which == Calls::all || std::ranges::count(kChanging, static_cast<long>(info.entry.nr)) > 0;
}

}  // namespace

Traced run_until_call(const Program& program, std::uint64_t k, Calls which) {
  Traced result;
  const pid_t pid = start(program);
  for (;;) {
    int status = 0;
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0 && errno == EINTR) continue;
    if (thread < 0) return result;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread == pid) return result;
      continue;
    }
    if (result.killed) continue;
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      if (counts(thread, which) && ++result.calls == k) {
        result.killed = true;
        kill(pid, SIGKILL);
        continue;
      }
      signal = 0;
    } else if (signal == SIGTRAP || signal == SIGSTOP) {
      signal = 0;  // a new thread, and the parent's notice of it
    }
    ptrace(PTRACE_SYSCALL, thread, nullptr, signal);
  }
}

}  // namespace cairn::test
