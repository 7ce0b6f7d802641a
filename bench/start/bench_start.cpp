// How fast a command answers while the daemon runs, as ratios to an empty dynamic C++ program that is started
// in the same way, in the same run, taking turns with it.
//
//   bench_start [--n N] [--check]
//
// --check exits 1 when a ratio is larger than 4. cairn, cairn-hook and bench_start_empty are found beside it.
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "os/process.h"

namespace {

constexpr double kLimit = 4;

struct Case {
  const char* name;
  std::vector<std::string> argv;
  std::vector<double> us{};

  double median() const {
    std::vector<double> sorted = us;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "bench_start: %s\n", what.c_str());
  std::exit(2);
}

double now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// Starts it with `input` (a file or none) and waits for its end.
int run(const std::vector<std::string>& words, const char* input = "/dev/null") {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, input, O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ) != 0) die("cannot start " + words[0]);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void deliver(const std::string& bin, const std::string& directory, const std::string& event,
             const std::string& members) {
  const std::string file = directory + "/event.json";
  std::FILE* out = std::fopen(file.c_str(), "we");
  if (!out) die("cannot write " + file);
  std::fprintf(out, R"({"session_id":"bench","hook_event_name":"%s","cwd":"%s","prompt_id":"p1"%s})",
               event.c_str(), directory.c_str(), members.c_str());
  std::fclose(out);
  if (run({bin + "/cairn-hook", event}, file.c_str()) != 0) die("cairn-hook failed");
}

// One turn of one session: a small store.
void fill(const std::string& bin, const std::string& directory) {
  deliver(bin, directory, "UserPromptSubmit",
          R"(,"prompt":"fix the lexer so that wide words are one token")");
  deliver(
      bin, directory, "PostToolUse",
      R"(,"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make check"},"tool_response":{"stdout":"ok"})");
  deliver(bin, directory, "Stop", R"(,"last_assistant_message":"The lexer reads wide words as one token.")");
  if (run({bin + "/cairn", "process", "--wait"}) != 0) die("cairn process failed");
}

}  // namespace

int main(int argc, char** argv) {
  int n = 100;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text == "--check")
      check = true;
    else if (text == "--n" && i + 1 < argc)
      n = std::clamp(std::atoi(argv[++i]), 1, 100'000);
    else
      die("usage: bench_start [--n N] [--check]");
  }
  // Where this is allowed, other work on the machine does not blur the ratios. Children inherit it, the
  // daemon too.
  const sched_param urgent{.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &urgent);
  const char* tmp = std::getenv("TMPDIR");
  std::string directory = std::string(tmp ? tmp : "/tmp") + "/bench_start.XXXXXX";
  if (!mkdtemp(directory.data())) die("cannot make a directory");
  setenv("CAIRN_HOME", (directory + "/home").c_str(), 1);
  for (const char* name : {"CAIRN_DISABLE", "CAIRN_AGENT"}) unsetenv(name);
  const std::string me = cairn::os::executable_path(), bin = me.substr(0, me.find_last_of('/'));
  fill(bin, directory);

  const std::string cairn = bin + "/cairn";
  std::vector<Case> cases = {{"empty program", {bin + "/bench_start_empty"}},
                             {"cairn --version", {cairn, "--version"}},
                             {"cairn status", {cairn, "status"}},
                             {"cairn search", {cairn, "search", "lexer", "--cwd", directory}},
                             {"cairn context", {cairn, "context", "--cwd", directory}}};
  for (const Case& c : cases)
    if (run(c.argv) != 0) die(std::string(c.name) + " failed");
  for (int round = 0; round < n; ++round)
    for (Case& c : cases) {
      const double start = now_us();
      run(c.argv);
      c.us.push_back(now_us() - start);
    }
  run({cairn, "daemon", "stop"});
  if (std::system(("rm -rf '" + directory + "'").c_str()) != 0)
    std::fprintf(stderr, "%s remains\n", directory.c_str());

  bool failed = false;
  for (const Case& c : cases) {
    const double ratio = c.median() / cases[0].median();
    std::printf("%-16s %8.0f us  %5.2f x%s\n", c.name, c.median(), ratio,
                ratio > kLimit ? "  more than 4" : "");
    failed = failed || ratio > kLimit;
  }
  return check && failed ? 1 : 0;
}
