// Running programs from a test: to the end with what they printed, or in the background.
//
// Every program gets a session and process group of its own, no terminal, no descriptor of the test's but its
// three, and dies with the thread that started it. None of ours may ask for a network (networks.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

struct Program {
  std::vector<std::string>
      argv;                      // argv[0] without a slash is looked up in the PATH that the program will see
  std::vector<std::string> env;  // "NAME=value": added to the test's environment, or all of it with clean_env
  bool clean_env = false;
  std::string cwd;    // empty: the test's
  std::string input;  // its stdin, then the end of file
  std::chrono::milliseconds timeout{30'000};
};

struct Outcome {
  int exit_code = -1;  // -1 when it did not exit by itself
  int signal = 0;      // what ended it
  bool timed_out =
      false;  // it, or a pipe it left behind, was still there at the timeout; its group was killed
  bool pipes_held = false;  // it ended, but 100 ms later another process still held its stdout or stderr
  std::string out;
  std::string err;
  std::chrono::milliseconds elapsed{0};  // until it had ended and both pipes were closed

  bool ok() const { return exit_code == 0 && !timed_out; }
  // Everything, for a failure message.
  std::string describe() const;
};

// Runs to the end as a host runs a hook: waits for the exit and for both pipes to close. A program that
// cannot be started has exit code 127 and says why in `err`.
Outcome run(const Program& program);

// A program in the background. stdin is a pipe that stays open until close_input(); Program::input is written
// first and must fit a pipe (64 KB). Its output goes to memory that never fills a pipe. The destructor kills
// the whole group.
class Background {
 public:
  explicit Background(const Program& program);
  ~Background();
  Background(Background&& other) noexcept;
  Background& operator=(Background&& other) noexcept;

  pid_t pid() const { return pid_; }
  bool running();
  // Writes to its stdin; what does not fit the pipe waits for the reader. False when the reader is gone.
  bool write_input(std::string_view text);
  void close_input();
  // Sends to the process, or to its whole group.
  void signal(int number);
  void signal_group(int number);
  // Waits for the exit. Nothing when `timeout` passed first; the process goes on. May be called again
  // afterwards.
  std::optional<Outcome> wait(std::chrono::milliseconds timeout);
  // SIGKILL to the group, and waits.
  Outcome kill();
  // What it has written so far.
  std::string out() const;
  std::string err() const;

 private:
  pid_t pid_ = -1;
  int exit_fd_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::chrono::steady_clock::time_point started_;
  std::optional<Outcome> ended_;
};

// Pids of the processes that run and whose command line (words joined with blanks) contains `text`; never
// this process.
std::vector<pid_t> processes_with(std::string_view text);
// Pids of the processes whose environment has `assignment` ("CAIRN_HOME=/tmp/x").
std::vector<pid_t> processes_with_env(std::string_view assignment);
// Whether that process exists and is not a zombie.
bool is_running(pid_t pid);

}  // namespace cairn::test
