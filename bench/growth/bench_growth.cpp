// How costs grow: each case is measured small and large in one run, and the table shows the ratio.
//
//   bench_growth [--json] [--check] [--only turns|store|hooks]
//
// --check exits 1 when a ratio exceeds its limit. CAIRN_FULL=1 takes the large sizes: a million rows, turns
// of 5,000 calls, 1,000 open turns, 1,000 projects.
#include <malloc.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "growth.h"
#include "ops/operation.h"

namespace cairn::bench {

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

static double number_in(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name)) return std::atof(line.c_str() + name.size());
  return 0;
}

double peak_mb() {
  return number_in("/proc/self/status", "VmHWM:") / 1024;
}

void reset_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

double written_bytes() {
  return number_in("/proc/self/io", "write_bytes:");
}

double bare_sync_us(const std::string& directory) {
  const std::string path = directory + "/bare";
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) die("cannot write " + path);
  const std::string page(4096, 'x');
  std::vector<double> times;
  for (int i = 0; i < 41; ++i) {
    const double begin = now_us();
    if (pwrite(file, page.data(), page.size(), i * 4096) < 0 || fdatasync(file) != 0) die("cannot write");
    times.push_back(now_us() - begin);
  }
  close(file);
  return at(times, 0.5);
}

Home::Home(const std::string& root) : home_(hook::Home::at(root + "/home")), project_(root + "/proj") {
  std::filesystem::create_directories(project_);
  reopen();
}

double Home::reopen() {
  engine_.reset();
  const double begin = now_us();
  engine_ = must(daemon::Engine::open(home_, {disk_, clock_, processes_, log_, "", false}));
  return now_us() - begin;
}

EventId Home::deliver(const std::string& event, const std::string& session, const std::string& rest,
                      const std::string& directory) {
  const std::string payload = fmt::format(R"({{"session_id":"{}","cwd":"{}"{}}})", session,
                                          directory.empty() ? project_ : directory, rest);
  hook::Envelope envelope;
  envelope.event = event;
  std::string_view left = payload;
  return must(hook::Inbox(disk_, clock_, home_.inbox())
                  .deliver(
                      envelope,
                      [&](char* to, std::size_t size) -> Result<std::size_t> {
                        const std::size_t n = left.copy(to, size);
                        left.remove_prefix(n);
                        return n;
                      },
                      hook::Flags::Sync::process));
}

void Home::prompt(const std::string& session) {
  deliver("UserPromptSubmit", session, R"(,"prompt":"make the parser faster")");
}

// What sessions do most: commands, edits, reads.
void Home::call(const std::string& session, std::size_t bytes) {
  const int n = calls_++;
  std::string output;
  while (output.size() < bytes)
    output +=
        fmt::format("line {} of call {} says that the parser reads token {}\\n", output.size(), n, n % 17);
  output.resize(bytes - bytes % 64);
  while (output.ends_with('\\')) output.pop_back();
  std::string call;
  if (n % 3 == 0)
    call = fmt::format(
        R"("tool_name":"Bash","tool_input":{{"command":"make test-{}"}},"tool_response":{{"stdout":"{}"}})",
        n % 40, output);
  else if (n % 3 == 1)
    call = fmt::format(
        R"("tool_name":"Write","tool_input":{{"file_path":"{}/src/part{}.cpp","content":"{}"}},"tool_response":{{"type":"update"}})",
        project_, n % 50, output);
  else
    call = fmt::format(
        R"("tool_name":"Read","tool_input":{{"file_path":"{}/src/part{}.cpp"}},"tool_response":{{"file":{{"content":"{}"}}}})",
        project_, n % 80, output);
  deliver("PostToolUse", session, fmt::format(R"(,"tool_use_id":"use-{}",{})", n, call));
}

void Home::stop(const std::string& session) {
  deliver("Stop", session, R"(,"last_assistant_message":"The parser is faster now.")");
}

void Home::drain() {
  while (must(engine_->step())) {
  }
}

double Home::start_us(const std::string& directory) {
  const EventId event =
      deliver("SessionStart", fmt::format("new-{}", ++starts_), R"(,"source":"startup")", directory);
  const double begin = now_us();
  const auto answer = must(engine_->answer(event, clock_.boot_ns() + 3'000'000'000));
  const double took = now_us() - begin;
  if (answer.receipt) must(engine_->confirm(*answer.receipt));
  return took;
}

double Home::median_start_us(int rounds, const std::string& busy) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    if (!busy.empty()) call(busy);
    drain();
    times.push_back(start_us());
  }
  drain();
  return at(times, 0.5);
}

double Home::operation_ms(std::string_view name, const Json& args, int rounds) {
  const ops::Operation* operation = ops::find_operation(name);
  if (!operation) die("there is no operation " + std::string(name));
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const double begin = now_us();
    must(engine_->run(*operation, args));
    times.push_back((now_us() - begin) / 1000);
  }
  return at(times, 0.5);
}

}  // namespace cairn::bench

namespace {

using namespace cairn;
using namespace cairn::bench;

Json json_of(const Rows& rows) {
  Json list = Json::array();
  for (const Row& row : rows)
    list.push(Json::object({{"case", row.name},
                            {"unit", row.unit},
                            {"small", row.small_name},
                            {"small_value", row.small},
                            {"large", row.large_name},
                            {"large_value", row.large},
                            {"ratio", row.ratio()},
                            {"limit", row.limit}}));
  return Json::object({{"rows", list}});
}

void print(const Rows& rows) {
  for (const Row& row : rows)
    fmt::print("{:<44} {:>22} {:>10.1f}   {:>26} {:>10.1f} {:<6} ratio {:>7.2f}{}{}\n", row.name,
               row.small_name, row.small, row.large_name, row.large, row.unit, row.ratio(),
               row.limit > 0 ? fmt::format(", at most {:.1f}", row.limit) : "",
               row.is_exceeded() ? "  EXCEEDED" : "");
}

Rows measure(const std::string& only, const Scale& scale) {
  const char* tmp = std::getenv("TMPDIR");
  std::string root = std::string(tmp ? tmp : "/tmp") + "/bench_growth.XXXXXX";
  if (!mkdtemp(root.data())) die("cannot make a directory");
  Rows rows;
  if (only.empty() || only == "turns") measure_turns(root + "/turns", scale, rows);
  if (only.empty() || only == "hooks") measure_hooks(root + "/hooks", scale, rows);
  if (only.empty() || only == "store") measure_store(root + "/store", scale, rows);
  remove_tree(root);
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  bool check = false, json = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (text == "--check")
      check = true;
    else if (text == "--json")
      json = true;
    else if (text == "--only" && i + 1 < argc)
      only = argv[++i];
    else
      die("usage: bench_growth [--json] [--check] [--only turns|store|hooks]");
  }
  const Scale scale{std::getenv("CAIRN_FULL") != nullptr};
  const auto exceeds = [](const Rows& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_exceeded(); });
  };
  Rows rows = measure(only, scale);
  // A few milliseconds belong to whatever else the machine did: a row counts with the best of three runs.
  for (int again = 0; again < 2 && check && exceeds(rows); ++again) {
    const Rows more = measure(only, scale);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (more[i].ratio() < rows[i].ratio()) rows[i] = more[i];
  }
  if (json)
    fmt::print("{}\n", json_of(rows).dump());
  else
    print(rows);
  return check && exceeds(rows) ? 1 : 0;
}
