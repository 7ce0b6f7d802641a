#include "support/networks.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace cairn::test {

namespace {

struct Noted {
  std::mutex mutex;
  std::vector<std::string> attempts;
};

// Never destroyed: the watching thread goes on until the process is gone.
Noted& noted() {
  static Noted* const state = new Noted;
  return *state;
}

// The descriptor that reports sockets other than Unix sockets, of this process and its children; -1: errno.
int listen_for_sockets() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  // All threads at once: any of them may start a program.
  constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                              (1u << 4) /* SECCOMP_FILTER_FLAG_TSYNC_ESRCH */;
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &program));
}

// The file that the process runs; empty when unknown.
std::string file_of(unsigned pid) {
  char path[4096];
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  return std::string(path, size > 0 ? static_cast<std::size_t>(size) : 0);
}

bool is_ours(std::string_view file) {
  return file.empty() || file.substr(file.rfind('/') + 1).starts_with("cairn");
}

// Whether the test gave it a provider that speaks HTTP.
bool has_provider(unsigned pid) {
  std::string environment;
  char bytes[4096];
  const int fd = open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
  for (ssize_t got = 0; fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0;)
    environment.append(bytes, static_cast<std::size_t>(got));
  if (fd >= 0) close(fd);
  environment.insert(environment.begin(), '\0');
  for (const std::string_view name : {"anthropic", "openai"})
    if (environment.find(std::string("\0CAIRN_AGENT_PROVIDER=", 22) + std::string(name)) != std::string::npos)
      return true;
  return false;
}

void note(const std::string& attempt) {
  std::fprintf(stderr, "networks: %s\n", attempt.c_str());
  const std::lock_guard lock(noted().mutex);
  noted().attempts.push_back(attempt);
}

void watch(int listener) {
  for (;;) {
    seccomp_notif asked{};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
      if (errno == EINTR || errno == ENOENT) continue;  // the process was killed
      return note(std::string("the watch ended: ") + std::strerror(errno));
    }
    seccomp_notif_resp answer{};
    answer.id = asked.id;
    const std::string file = file_of(asked.pid);
    if (is_ours(file) && !has_provider(asked.pid)) {
      note((file.empty() ? "process " + std::to_string(asked.pid) : file) + " asked for a socket of family " +
           std::to_string(asked.data.args[0]));
      answer.error = -EACCES;
    } else {
      answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

void fail_if_noted() {
  if (!take_network_attempts().empty()) _exit(97);
}

bool begin() {
  const int listener = listen_for_sockets();
  if (listener < 0) {
    std::fprintf(stderr, "networks: not watched: %s\n", std::strerror(errno));
    return false;
  }
  noted();
  std::atexit(fail_if_noted);
  std::thread(watch, listener).detach();
  return true;
}

}  // namespace

bool watch_networks() {
  static const bool watched = begin();
  return watched;
}

std::vector<std::string> take_network_attempts() {
  const std::lock_guard lock(noted().mutex);
  return std::exchange(noted().attempts, {});
}

}  // namespace cairn::test
