// How long a delivered event takes to its committed queue row, at 20 events a second, with the real hook and
// daemon beside this program.
// `--check` exits 1 when the 95th percentile is above 50 ms.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "os/process.h"
#include "store/sql.h"

using namespace cairn;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kEvents = 100;
constexpr auto kBetween = std::chrono::milliseconds(50);
constexpr double kLimitMs = 50;

// Runs a program beside this one with `input` on its stdin, and waits for it.
void run(const std::string& program, const std::vector<std::string>& arguments, const std::string& input) {
  int in[2];
  if (pipe2(in, O_CLOEXEC) != 0) std::abort();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  if (posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ) != 0) std::abort();
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  if (write(in[1], input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
  close(in[1]);
  waitpid(pid, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::string_view(argv[1]) == "--check";
  char root[] = "/tmp/bench-commit-XXXXXX";
  if (!mkdtemp(root)) return 1;
  setenv("CAIRN_HOME", root, 1);
  const std::string bin = std::filesystem::path(os::executable_path()).parent_path();
  run(bin + "/cairn", {"daemon", "start"}, "");
  store::Db::Options options;
  options.path = std::string(root) + "/cairn.db";
  options.mode = store::Db::Mode::read_only;
  store::Db db = store::Db::open(options).value();

  std::vector<double> ms;
  auto next = Clock::now();
  for (int i = 0; i < kEvents; ++i) {
    std::this_thread::sleep_until(next += kBetween);
    const std::string use = fmt::format("use-{}", i);
    run(bin + "/cairn-hook", {"PostToolUse"},
        fmt::format(
            R"({{"session_id":"s","cwd":"{}","tool_name":"Bash","tool_use_id":"{}","tool_input":{{"command":"make"}},"tool_response":{{"stdout":"{}"}}}})",
            root, use, std::string(2000, 'x')));
    const auto delivered = Clock::now();
    while (!db.integer("SELECT m.id FROM events e JOIN pending_messages m ON m.event_seq = e.seq WHERE "
                       "e.tool_use_id = ?",
                       use)
                .value())
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - delivered).count());
  }
  std::sort(ms.begin(), ms.end());
  const double p50 = ms[ms.size() / 2], p95 = ms[ms.size() * 95 / 100];
  fmt::print("delivered to committed, {} events at 20/s: p50 {:.1f} ms, p95 {:.1f} ms (at most {:.0f})\n",
             kEvents, p50, p95, kLimitMs);
  run(bin + "/cairn", {"daemon", "stop"}, "");
  std::filesystem::remove_all(root);
  return check && p95 > kLimitMs ? 1 : 0;
}
