// sim: runs simulated schedules; docs/SIMULATION.md says what they are.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "sim/runner.h"

namespace {

constexpr const char* kUsage =
    "usage: sim --seed N [--steps M] [--trace]       one schedule, and its hash\n"
    "       sim --from N --count M [--steps M] [--jobs J]\n";

}  // namespace

int main(int argc, char** argv) {
  cairn::sim::Options options;
  std::uint64_t first = 1, count = 0;
  unsigned jobs = std::thread::hardware_concurrency();
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--trace") {
      options.trace = true;
      continue;
    }
    if (i + 1 == argc) return std::fputs(kUsage, stderr), 2;
    const std::uint64_t value = std::strtoull(argv[++i], nullptr, 10);
    if (name == "--seed")
      options.seed = value;
    else if (name == "--steps")
      options.steps = static_cast<std::int64_t>(value);
    else if (name == "--from")
      first = value;
    else if (name == "--count")
      count = value;
    else if (name == "--jobs")
      jobs = static_cast<unsigned>(value);
    else
      return std::fputs(kUsage, stderr), 2;
  }
  if (count > 0) {
    const auto failed = cairn::sim::run_seeds_at_once(first, count, jobs, options);
    if (failed)
      std::fputs(failed->c_str(), stdout);
    else
      std::printf("%llu schedules, no violation\n", static_cast<unsigned long long>(count));
    return failed ? 1 : 0;
  }
  const auto outcome = cairn::sim::Schedule(options).run();
  if (outcome.wrong) std::fputs(cairn::sim::report(options, outcome).c_str(), stdout);
  std::printf("seed %llu hash %016llx\n", static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(outcome.hash));
  return outcome.wrong ? 1 : 0;
}
