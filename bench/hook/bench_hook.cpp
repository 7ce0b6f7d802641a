// What a hook costs, as ratios to an empty static program that is started and fed in the same way, in the
// same run, taking turns with it.
//
//   bench_hook [--n N] [--json] [--check] [--dir DIR]
//
// --check exits 1 when a ratio or the memory exceeds what cairn promises. cairn-hook and bench_empty are
// found beside it.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/shared/child.h"
#include "hook/control.h"
#include "hook/flags.h"
#include "hook/home.h"
#include "os/disk.h"
#include "os/lock.h"
#include "os/process.h"

namespace {

using namespace cairn;
using namespace cairn::bench;

constexpr std::size_t kSmall = 2u << 10, kBig = 200u << 10, kHuge = 64u << 20;
constexpr long kMaxRssKb = 4096;
constexpr std::string_view kEvent =
    R"({"session_id":"bench","hook_event_name":"PostToolUse","tool_response":")";

struct Case {
  const char* name;
  std::vector<std::string> argv;
  std::size_t payload = kSmall;
  int at_once = 1;
  const char* baseline = nullptr;  // the case it is compared with
  double limit = 0;                // the ratio that is promised; 0: none
  std::string home;                // CAIRN_HOME; empty: not a hook
  std::string_view answer = hook::kFixedAnswer;
  bool starts = false;       // each run starts a daemon
  int every = 1;             // measured in every so many rounds
  std::vector<double> us{};  // a whole batch, in microseconds
  long rss_kb = 0;

  double at(double part) const { return bench::at(us, part); }
};

// Empties the inbox; returns how many events were in it.
int take_all(const std::string& home) {
  os::RealDisk disk;
  const std::string directory = hook::Home::at(home).inbox() + "/new";
  const auto names = disk.list(directory).value_or({});
  for (const std::string& name : names) must(disk.remove(directory + "/" + name));
  return static_cast<int>(names.size());
}

void measure(Case& c) {
  if (!c.home.empty()) setenv("CAIRN_HOME", c.home.c_str(), 1);
  if (c.starts) unlink(hook::Home::at(c.home).start().c_str());
  std::vector<Child> children(static_cast<std::size_t>(c.at_once));
  for (Child& child : children) child.open_pipes();
  const double begin = now_us();
  for (Child& child : children) child.start(c.argv);
  for (Child& child : children) child.feed(kEvent, c.payload);
  for (Child& child : children) {
    rusage usage{};
    int status = 0;
    if (wait4(child.pid, &status, 0, &usage) != child.pid || status != 0)
      die(std::string(c.name) + " failed");
    c.rss_kb = std::max(c.rss_kb, usage.ru_maxrss);
  }
  c.us.push_back(now_us() - begin);
  for (Child& child : children) {
    const std::string output = child.output();
    if (!c.home.empty() && output != std::string(c.answer) + "\n") die("unexpected answer: " + output);
  }
  if (!c.home.empty() && take_all(c.home) != c.at_once) die("an event was not delivered");
  int started = 0;
  while (waitpid(-1, nullptr, 0) > 0) ++started;  // daemons: this process adopts them
  if (started != (c.starts ? 1 : 0)) die("daemons started: " + std::to_string(started));
}

void copy_program(const std::string& from, const std::string& to) {
  os::RealDisk disk;
  const auto in = must(disk.open(from, os::Open::read));
  const auto out = must(disk.open(to, os::Open::create_new));
  char block[64u << 10];
  for (std::uint64_t at = 0;;) {
    const std::size_t got = must(in->read_at(at, block, sizeof block));
    if (got == 0) break;
    must(out->write_at(at, {block, got}));
    at += got;
  }
  if (chmod(to.c_str(), 0700) != 0) die("chmod " + to);
}

std::string new_home(const std::string& directory, const char* name, hook::Flags::Sync sync) {
  os::RealDisk disk;
  const std::string home = directory + "/" + name;
  must(os::make_dirs(disk, home));
  hook::Flags flags;
  flags.sync = sync;
  must(os::replace_file(disk, hook::Home::at(home).flags(), flags.encode()));
  return home;
}

std::vector<Case> all_cases(const std::string& bin, const std::string& directory) {
  os::RealDisk disk;
  const std::string lone = directory + "/lone", pair = directory + "/pair";
  must(os::make_dirs(disk, lone));
  must(os::make_dirs(disk, pair));
  const std::string empty = bin + "/bench_empty";
  copy_program(bin + "/cairn-hook", lone + "/cairn-hook");
  copy_program(bin + "/cairn-hook", pair + "/cairn-hook");
  copy_program(empty, pair + "/cairn");
  const std::vector<std::string> hook = {lone + "/cairn-hook", "PostToolUse"};
  const std::vector<std::string> starter = {pair + "/cairn-hook", "PostToolUse"};
  using Sync = hook::Flags::Sync;
  const std::string running = new_home(directory, "running", Sync::process);
  const std::string synced = new_home(directory, "synced", Sync::disk);
  const std::string absent = new_home(directory, "absent", Sync::process);
  const std::string starting = new_home(directory, "starting", Sync::process);
  return {
      {.name = "empty, 2 KB", .argv = {empty}},
      {.name = "hook, 2 KB", .argv = hook, .baseline = "empty, 2 KB", .limit = 1.5, .home = running},
      {.name = "hook, 2 KB, codex",
       .argv = {lone + "/cairn-hook", "PostToolUse", "--host", "codex"},
       .baseline = "empty, 2 KB",
       .limit = 1.5,
       .home = running,
       .answer = "{}"},
      {.name = "hook, 2 KB, gemini",
       .argv = {lone + "/cairn-hook", "AfterTool", "--host", "gemini"},
       .baseline = "empty, 2 KB",
       .limit = 1.5,
       .home = running,
       .answer = "{}"},
      {.name = "hook, 2 KB, opencode",
       .argv = {lone + "/cairn-hook", "tool.execute.after", "--host", "opencode"},
       .baseline = "empty, 2 KB",
       .limit = 1.5,
       .home = running,
       .answer = "{}"},
      {.name = "hook, 2 KB, cairn absent",
       .argv = hook,
       .baseline = "empty, 2 KB",
       .limit = 1.5,
       .home = absent},
      {.name = "hook, 2 KB, sync disk", .argv = hook, .baseline = "empty, 2 KB", .limit = 3, .home = synced},
      {.name = "hook that starts a daemon",
       .argv = starter,
       .baseline = "empty, 2 KB",
       .limit = 6,
       .home = starting,
       .starts = true},
      {.name = "empty, 200 KB", .argv = {empty}, .payload = kBig},
      {.name = "hook, 200 KB",
       .argv = hook,
       .payload = kBig,
       .baseline = "empty, 200 KB",
       .limit = 3,
       .home = running},
      {.name = "hook, 200 KB, sync disk",
       .argv = hook,
       .payload = kBig,
       .baseline = "empty, 200 KB",
       .home = synced},
      {.name = "empty, 2 KB, 8 at once", .argv = {empty}, .at_once = 8},
      {.name = "hook, 2 KB, 8 at once",
       .argv = hook,
       .at_once = 8,
       .baseline = "empty, 2 KB, 8 at once",
       .home = running},
      {.name = "hook, 2 KB, sync disk, 8 at once",
       .argv = hook,
       .at_once = 8,
       .baseline = "empty, 2 KB, 8 at once",
       .home = synced},
      {.name = "empty, 200 KB, 8 at once", .argv = {empty}, .payload = kBig, .at_once = 8},
      {.name = "hook, 200 KB, 8 at once",
       .argv = hook,
       .payload = kBig,
       .at_once = 8,
       .baseline = "empty, 200 KB, 8 at once",
       .home = running},
      {.name = "hook, 64 MB", .argv = hook, .payload = kHuge, .home = running, .every = 100},
      {.name = "node -e 0", .argv = {"node", "-e", "0"}, .baseline = "empty, 2 KB", .every = 20},
  };
}

double ratio(const Case& c, const std::vector<Case>& cases) {
  if (c.baseline == nullptr || c.us.empty()) return 0;
  const auto base = std::find_if(cases.begin(), cases.end(),
                                 [&](const Case& b) { return !std::strcmp(b.name, c.baseline); });
  return c.at(0.5) / base->at(0.5);
}

bool fails(const Case& c, const std::vector<Case>& cases) {
  return (c.limit > 0 && ratio(c, cases) > c.limit) || (!c.home.empty() && c.rss_kb > kMaxRssKb);
}

void print_table(const std::vector<Case>& cases) {
  std::printf("%-34s %6s %10s %10s %7s %7s %8s\n", "case", "n", "p50 us", "p99 us", "ratio", "limit",
              "RSS KB");
  for (const Case& c : cases) {
    char compared[16] = "", promised[16] = "";
    if (c.baseline) std::snprintf(compared, sizeof compared, "%.2f", ratio(c, cases));
    if (c.limit > 0) std::snprintf(promised, sizeof promised, "%.1f", c.limit);
    std::printf("%-34s %6zu %10.0f %10.0f %7s %7s %8ld%s\n", c.name, c.us.size(), c.at(0.5), c.at(0.99),
                compared, promised, c.rss_kb, fails(c, cases) ? "  EXCEEDED" : "");
  }
}

void print_json(const std::vector<Case>& cases) {
  std::printf("{\"cases\":[");
  for (const Case& c : cases)
    std::printf(
        "%s{\"name\":\"%s\",\"n\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f,\"ratio\":%.3f,\"limit\":%.1f,\"rss_"
        "kb\":%ld,"
        "\"ok\":%s}",
        &c == cases.data() ? "" : ",", c.name, c.us.size(), c.at(0.5), c.at(0.99), ratio(c, cases), c.limit,
        c.rss_kb, fails(c, cases) ? "false" : "true");
  std::printf("]}\n");
}

bool on_path(const char* program) {
  const std::string command = std::string("command -v ") + program + " >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

struct Options {
  int n = 300;
  bool json = false, check = false;
  std::string dir = "/tmp";
};

Options read_options(int argc, char** argv) {
  Options options;
  if (const char* tmp = std::getenv("TMPDIR")) options.dir = tmp;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text == "--json") {
      options.json = true;
    } else if (text == "--check") {
      options.check = true;
    } else if (text == "--n" && i + 1 < argc) {
      options.n = std::clamp(std::atoi(argv[++i]), 1, 100'000);
    } else if (text == "--dir" && i + 1 < argc) {
      options.dir = argv[++i];
    } else {
      die("usage: bench_hook [--n N] [--json] [--check] [--dir DIR]");
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Where this is allowed, other work on the machine does not blur the ratios. Children inherit it.
  const sched_param urgent{.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &urgent);
  for (const char* name : {"CAIRN_DISABLE", "CAIRN_AGENT"}) unsetenv(name);
  std::string directory = options.dir + "/bench_hook.XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) die("cannot make a directory in " + options.dir);
  const std::string me = os::executable_path();
  std::vector<Case> cases = all_cases(me.substr(0, me.find_last_of('/')), directory);
  if (!on_path("node")) cases.pop_back();
  // Held here, so that a daemon seems to run.
  const os::FileLock running = must(os::FileLock::acquire(directory + "/running/daemon.lock"));
  const os::FileLock synced = must(os::FileLock::acquire(directory + "/synced/daemon.lock"));

  const auto failed = [&] {
    return std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return fails(c, cases); });
  };
  // While the disk is busy with what others wrote, every hook is slower: one of three runs must do.
  for (int again = 0; again == 0 || (again < 3 && options.check && failed()); ++again) {
    sync();                  // what others wrote before is not paid for by the hooks
    for (Case& c : cases) {  // a first run of each makes directories and warms caches; it does not count
      c.us.clear();
      measure(c);
      c.us.clear();
    }
    for (int round = 0; round < options.n; ++round)
      for (Case& c : cases)
        if (round % c.every == 0) measure(c);
  }

  options.json ? print_json(cases) : print_table(cases);
  remove_tree(directory);
  return options.check && failed() ? 1 : 0;
}
