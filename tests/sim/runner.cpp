#include "sim/runner.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/result.h"

namespace cairn::sim {

namespace {

// An assertion failed inside a schedule: says which, and lets the process end.
void tell_position(int) {
  char text[128];
  const Position& at = current_position();
  const int size = std::snprintf(text, sizeof text, "\nsim: seed %llu ended the process at step %lld\n",
                                 static_cast<unsigned long long>(at.seed), static_cast<long long>(at.step));
  [[maybe_unused]] const ssize_t put = write(STDERR_FILENO, text, static_cast<std::size_t>(size));
}

void watch_for_assertions() {
  struct sigaction action {};
  action.sa_handler = tell_position;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGABRT, &action, nullptr);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

struct Child {
  pid_t pid = -1;
  int reports = -1;
};

Child start_child(std::uint64_t first, std::uint64_t count, const Options& options) {
  int ends[2];
  CAIRN_ASSERT(pipe(ends) == 0);
  const pid_t pid = fork();
  CAIRN_ASSERT(pid >= 0);
  if (pid == 0) {
    close(ends[0]);
    const auto failed = run_seeds(first, count, options);
    if (failed) [[maybe_unused]]
      const ssize_t put = write(ends[1], failed->data(), failed->size());
    _exit(failed ? 1 : 0);
  }
  close(ends[1]);
  return {pid, ends[0]};
}

}  // namespace

std::string report(const Options& options, const Outcome& outcome) {
  return fmt::format("seed {}, step {}: {}\n{}again: sim --seed {} --steps {} --trace\n", options.seed,
                     outcome.step, outcome.wrong.value_or("nothing"), outcome.last_steps, options.seed,
                     options.steps);
}

std::optional<std::string> run_seeds(std::uint64_t first, std::uint64_t count, Options options) {
  watch_for_assertions();
  for (options.seed = first; options.seed < first + count; ++options.seed) {
    const Outcome outcome = Schedule(options).run();
    if (outcome.wrong) return report(options, outcome);
  }
  return std::nullopt;
}

std::optional<std::string> run_seeds_at_once(std::uint64_t first, std::uint64_t count, unsigned jobs,
                                             const Options& options) {
  std::vector<Child> children;
  for (unsigned i = 0; i < jobs; ++i) {
    const std::uint64_t from = first + count * i / jobs, to = first + count * (i + 1) / jobs;
    children.push_back(start_child(from, to - from, options));
  }
  std::string reports;
  for (const Child& child : children) {
    const std::string text = read_all(child.reports);
    close(child.reports);
    int state = 0;
    waitpid(child.pid, &state, 0);
    if (state != 0) reports += text.empty() ? "a process ended by itself; its seed stands above\n" : text;
  }
  if (reports.empty()) return std::nullopt;
  return reports;
}

}  // namespace cairn::sim
