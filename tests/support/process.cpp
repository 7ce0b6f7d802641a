#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "support/networks.h"
#include "support/temp_dir.h"

extern char** environ;

namespace cairn::test {

namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    CAIRN_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_fd(read);
    close_fd(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

std::vector<std::string> full_environment(const Program& program) {
  std::vector<std::string> env = program.env;
  if (program.clean_env) return env;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& own : program.env) replaced = replaced || own.compare(0, name.size(), name) == 0;
    if (!replaced) env.emplace_back(text);
  }
  return env;
}

// The file to execute: found here, since a child between fork and exec may not allocate.
std::string resolve(const std::string& name, const std::vector<std::string>& env) {
  if (name.find('/') != std::string::npos) return name;
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& entry : env)
    if (entry.compare(0, 5, "PATH=") == 0) path = std::string_view(entry).substr(5);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string candidate = std::string(path.substr(0, end)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return name;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

struct Started {
  pid_t pid = -1;
  int error = 0;  // errno of the failed start; the child is already reaped then
};

// Forks and executes; returns when the exec has happened, so the group exists and the descriptors are gone.
Started start(const Program& program, int in, int out, int err) {
  static const bool ignored = ::signal(SIGPIPE, SIG_IGN) != SIG_ERR;  // a program may leave its stdin unread
  CAIRN_ASSERT(ignored && !program.argv.empty());
  watch_networks();
  const std::vector<std::string> env = full_environment(program);
  const std::string file = resolve(program.argv[0], env);
  std::vector<char*> argv = pointers(program.argv);
  std::vector<char*> envp = pointers(env);
  Pipe failed;
  const pid_t pid = ::fork();
  CAIRN_ASSERT(pid >= 0);
  if (pid == 0) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    bool ready = ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2;
    ready = ready && (program.cwd.empty() || ::chdir(program.cwd.c_str()) == 0);
    // What others in the test process opened without O_CLOEXEC is not the program's.
    if (ready) ::syscall(SYS_close_range, 3u, ~0u, 1u << 2 /* CLOSE_RANGE_CLOEXEC */);
    if (ready) ::execve(file.c_str(), argv.data(), envp.data());
    const int error = errno;
    if (::write(failed.write, &error, sizeof error) < 0) ::_exit(126);
    ::_exit(127);
  }
  close_fd(failed.write);
  Started started{pid, 0};
  ssize_t got;
  do got = ::read(failed.read, &started.error, sizeof started.error);
  while (got < 0 && errno == EINTR);
  if (got > 0)
    ::waitpid(pid, nullptr, 0);
  else
    started.error = 0;
  return started;
}

Outcome not_started(const Program& program, int error) {
  Outcome outcome;
  outcome.exit_code = 127;
  outcome.err = program.argv[0] + ": cannot be started: " + std::strerror(error);
  return outcome;
}

void record_exit(Outcome& outcome, pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
}

// Takes what is there; closes at the end of file.
void drain(int& fd, std::string& to) {
  char buffer[65536];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got > 0) to.append(buffer, static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) close_fd(fd);
}

void feed(int& fd, std::string_view& input) {
  const ssize_t put = ::write(fd, input.data(), input.size());
  if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
  if (input.empty() || (put < 0 && errno != EAGAIN && errno != EINTR)) close_fd(fd);
}

int until(SteadyClock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - SteadyClock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left) + 1;
}

// One round of waiting for the program: its pipes and its exit.
struct Pump {
  pid_t pid;
  int exit_fd;
  int in, out, err;
  std::string_view input;
  Outcome& outcome;

  bool done() const { return exit_fd < 0 && out < 0 && err < 0; }

  // False when `timeout_ms` passed without anything.
  bool step(int timeout_ms) {
    pollfd fds[4] = {{in, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}, {exit_fd, POLLIN, 0}};
    const int ready = ::poll(fds, 4, timeout_ms);
    if (ready < 0) return errno == EINTR;
    if (ready == 0) return false;
    if (fds[0].revents) feed(in, input);
    if (fds[1].revents) drain(out, outcome.out);
    if (fds[2].revents) drain(err, outcome.err);
    if (fds[3].revents) {
      record_exit(outcome, pid);
      close_fd(exit_fd);
      close_fd(in);
    }
    return true;
  }
};

int open_pidfd(pid_t pid) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  CAIRN_ASSERT(fd >= 0);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}

std::string read_memory(int fd) {
  std::string text;
  char buffer[65536];
  ssize_t got;
  while ((got = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

template <class Matches>
std::vector<pid_t> processes_where(const char* file, Matches&& matches) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (pid <= 0 || pid == ::getpid() || !is_running(pid)) continue;
    if (matches(read_text(entry.path().string() + "/" + file))) found.push_back(pid);
  }
  return found;
}

}  // namespace

std::string Outcome::describe() const {
  std::string text = "exit code " + std::to_string(exit_code);
  if (signal) text += ", signal " + std::to_string(signal);
  if (timed_out) text += ", timed out";
  if (pipes_held) text += ", pipes held by another process";
  text += ", " + std::to_string(elapsed.count()) + " ms\n";
  if (!out.empty()) text += "--- stdout\n" + out + "\n";
  if (!err.empty()) text += "--- stderr\n" + err + "\n";
  return text;
}

Outcome run(const Program& program) {
  const auto begin = SteadyClock::now();
  const auto end = begin + program.timeout;
  Outcome outcome;
  Pipe in, out, err;
  const Started started = start(program, in.read, out.write, err.write);
  if (started.error) return not_started(program, started.error);
  close_fd(in.read);
  close_fd(out.write);
  close_fd(err.write);
  for (int fd : {in.write, out.read, err.read}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  Pump pump{started.pid,
            open_pidfd(started.pid),
            std::exchange(in.write, -1),
            std::exchange(out.read, -1),
            std::exchange(err.read, -1),
            program.input,
            outcome};
  if (program.input.empty()) close_fd(pump.in);

  while (pump.exit_fd >= 0 && SteadyClock::now() < end) pump.step(until(end));
  if (pump.exit_fd < 0) {
    const auto grace = SteadyClock::now() + milliseconds(100);
    while (!pump.done() && SteadyClock::now() < grace) pump.step(until(grace));
    outcome.pipes_held = !pump.done();
  }
  while (!pump.done() && SteadyClock::now() < end) pump.step(until(end));
  if (!pump.done()) {
    outcome.timed_out = true;
    ::kill(-started.pid, SIGKILL);
    while (pump.exit_fd >= 0) pump.step(1000);
    while (!pump.done() && pump.step(100)) {
    }
  }
  close_fd(pump.in);
  close_fd(pump.out);
  close_fd(pump.err);
  outcome.elapsed = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begin);
  return outcome;
}

Background::Background(const Program& program) : started_(SteadyClock::now()) {
  Pipe in;
  out_ = ::memfd_create("stdout", MFD_CLOEXEC);
  err_ = ::memfd_create("stderr", MFD_CLOEXEC);
  CAIRN_ASSERT(out_ >= 0 && err_ >= 0);
  for (int fd : {out_, err_}) ::fcntl(fd, F_SETFL, O_APPEND);
  const Started started = start(program, in.read, out_, err_);
  if (started.error) {
    ended_ = not_started(program, started.error);
    return;
  }
  pid_ = started.pid;
  exit_fd_ = open_pidfd(pid_);
  in_ = std::exchange(in.write, -1);
  CAIRN_ASSERT(program.input.size() <= 65536);
  write_input(program.input);
}

Background::~Background() {
  if (pid_ > 0 && !ended_) kill();
  for (int* fd : {&exit_fd_, &in_, &out_, &err_}) close_fd(*fd);
}

Background::Background(Background&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      exit_fd_(std::exchange(other.exit_fd_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      started_(other.started_),
      ended_(std::exchange(other.ended_, std::nullopt)) {}

Background& Background::operator=(Background&& other) noexcept {
  Background taken(std::move(other));
  std::swap(pid_, taken.pid_);
  std::swap(exit_fd_, taken.exit_fd_);
  std::swap(in_, taken.in_);
  std::swap(out_, taken.out_);
  std::swap(err_, taken.err_);
  std::swap(started_, taken.started_);
  std::swap(ended_, taken.ended_);
  return *this;
}

bool Background::running() {
  return !wait(milliseconds(0));
}

bool Background::write_input(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(in_, text.data(), text.size());
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void Background::close_input() {
  close_fd(in_);
}

void Background::signal(int number) {
  if (!ended_) ::kill(pid_, number);
}

void Background::signal_group(int number) {
  if (!ended_) ::kill(-pid_, number);
}

std::optional<Outcome> Background::wait(milliseconds timeout) {
  if (!ended_) {
    const auto end = SteadyClock::now() + timeout;
    pollfd fd{exit_fd_, POLLIN, 0};
    int ready;
    do ready = ::poll(&fd, 1, timeout.count() == 0 ? 0 : until(end));
    while (ready < 0 && errno == EINTR);
    if (ready == 0) return std::nullopt;
    ended_.emplace();
    record_exit(*ended_, pid_);
    ended_->elapsed = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - started_);
  }
  Outcome outcome = *ended_;
  if (pid_ > 0) {
    outcome.out = out();
    outcome.err = err();
  }
  return outcome;
}

Outcome Background::kill() {
  if (!ended_) ::kill(-pid_, SIGKILL);
  return *wait(milliseconds(10'000));
}

std::string Background::out() const {
  return read_memory(out_);
}
std::string Background::err() const {
  return read_memory(err_);
}

std::vector<pid_t> processes_with(std::string_view text) {
  return processes_where("cmdline", [&](std::string words) {
    for (char& c : words)
      if (c == '\0') c = ' ';
    return words.find(text) != std::string::npos;
  });
}

std::vector<pid_t> processes_with_env(std::string_view assignment) {
  const std::string wanted = std::string(assignment) + '\0';
  return processes_where("environ", [&](const std::string& words) {
    const std::size_t at = words.find(wanted);
    return at != std::string::npos && (at == 0 || words[at - 1] == '\0');
  });
}

bool is_running(pid_t pid) {
  const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t after_name = stat.rfind(") ");
  return after_name != std::string::npos && after_name + 2 < stat.size() && stat[after_name + 2] != 'Z' &&
         stat[after_name + 2] != 'X';
}

}  // namespace cairn::test
