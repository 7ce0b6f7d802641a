// What it costs to archive generated transcripts: `bench_archive [--check] [MEGABYTES]`.
//
// Copying through the gate, as a ratio to the gate alone; copying as it is, as a ratio to zstd -3; both of
// the same bytes in the same run. Then all of them are imported by the daemon's engine: the memory of the
// process, and how long a session's start waits meanwhile. Then a word of the middle is searched. `--check`
// exits 1 when a promise is not kept.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/copy.h"
#include "base/text.h"
#include "daemon/engine.h"
#include "hook/inbox.h"

using namespace cairn;

namespace {

constexpr std::size_t kFile = 16u << 20;
constexpr double kOfGate = 1.0 / 3, kOfZstd = 1.0 / 5;
constexpr double kMostMegabytes = 200, kDeadline = 3.0;  // of a session's start, in seconds

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Words and numbers as in tool output, never twice the same.
std::string words(std::uint64_t& seed, std::size_t bytes) {
  static constexpr const char* kWords[] = {
      "parser", "lexer ", "error:",  "src/store/queue.cpp:118:", "expected", "token", "warning",
      "the",    "reads",  "returned"};
  std::string text;
  while (text.size() < bytes) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    text += kWords[(seed >> 33) % 10];
    text += (seed >> 40) % 5 == 0 ? " " + std::to_string(seed >> 48) + "\n" : " ";
  }
  return text;
}

std::string line(std::string_view type, const std::string& session, int number, const Json& content,
                 const std::string& cwd) {
  return Json::object(
             {{"type", type},
              {"uuid", fmt::format("{}-{}", session, number)},
              {"sessionId", session},
              {"promptId", type == "user" ? Json(fmt::format("{}-p{}", session, number / 40)) : Json()},
              {"message", Json::object({{"content", content}, {"stop_reason", Json()}})},
              {"cwd", cwd},
              {"timestamp", iso8601(from_epoch_ms(1'770'000'000'000 + number * 1000))}})
             .dump() +
         "\n";
}

// One transcript of about kFile bytes: prompts, tool calls with 6 KB of output, answers.
std::uint64_t write_transcript(const std::string& path, const std::string& session, std::uint64_t seed,
                               const std::string& cwd) {
  std::ofstream out(path, std::ios::binary);
  const std::string first = fmt::format("Look at quagga{}x ", seed);
  std::uint64_t bytes = 0;
  for (int number = 0; bytes < kFile; ++number) {
    const std::string id = fmt::format("toolu_{}x{}", session.substr(0, 8), number);
    std::string text;
    if (number % 40 == 0)
      text = line("user", session, number, Json(first + words(seed, 200)), cwd);
    else if (number % 40 == 39)
      text = line("assistant", session, number,
                  Json::array({Json::object({{"type", "text"}, {"text", words(seed, 800)}})}), cwd);
    else
      text = line("assistant", session, number,
                  Json::array({Json::object({{"type", "tool_use"},
                                             {"id", id},
                                             {"name", "Bash"},
                                             {"input", Json::object({{"command", words(seed, 80)}})}})}),
                  cwd) +
             line("user", session, number,
                  Json::array({Json::object(
                      {{"type", "tool_result"}, {"tool_use_id", id}, {"content", words(seed, 6000)}})}),
                  cwd);
    out << text;
    bytes += text.size();
  }
  out.close();
  const timespec times[2] = {{1'770'000'000, 0}, {1'770'100'000, 0}};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
  return bytes;
}

double megabytes_of_process() {
  std::ifstream status("/proc/self/status");
  for (std::string text; std::getline(status, text);)
    if (text.starts_with("VmHWM:")) return std::strtod(text.c_str() + 6, nullptr) / 1024;
  return 0;
}

struct Bench {
  os::RealDisk disk;
  os::RealClock clock;
  os::RealProcesses processes;
  NullLog log;
  std::string root;
  hook::Home home;
  std::unique_ptr<daemon::Engine> engine;
  gate::Gate gate{gate::Rules{}};
  std::vector<std::string> files;
  std::uint64_t bytes = 0;
  bool good = true;

  explicit Bench(const std::string& where) : root(where), home(hook::Home::at(where + "/home")) {
    engine = daemon::Engine::open(home, {disk, clock, processes, log, "", false}).value();
  }

  void expect(std::string_view what, double value, double limit, bool at_least) {
    const bool kept = at_least ? value >= limit : value <= limit;
    good = good && kept;
    fmt::print("{:<44} {:8.2f} ({} {:.2f}){}\n", what, value, at_least ? "at least" : "at most", limit,
               kept ? "" : "  NOT KEPT");
  }

  void generate(std::uint64_t megabytes) {
    const std::string folder = root + "/host/projects/-proj";
    std::filesystem::create_directories(folder);
    std::filesystem::create_directories(root + "/proj");
    for (std::uint64_t i = 0; bytes < megabytes << 20; ++i) {
      const std::string session = fmt::format("{:08}-aaaa-4bbb-8ccc-000000000001", i);
      files.push_back(fmt::format("{}/{}.jsonl", folder, session));
      bytes += write_transcript(files.back(), session, i + 1, root + "/proj");
    }
    fmt::print("{} transcripts, {} MB\n", files.size(), bytes >> 20);
  }

  // Seconds to copy a file into an archive of its own.
  double copy(const std::string& path, bool redact) {
    const archive::Places places{root + (redact ? "/clean" : "/raw")};
    archive::Copy::Job job;
    job.key = {"claude-code", (redact ? "clean-" : "raw-") + std::to_string(std::hash<std::string>()(path)),
               ""};
    job.path = path;
    job.even_if_unchanged = true;
    const double begin = now();
    auto one = archive::Copy::open(engine->db(), disk, places, gate, job, {redact, 3}).value();
    while (one->step().value()) {
    }
    return now() - begin;
  }

  // Seconds that the gate needs for the lines of a file.
  double gate_alone(const std::string& path) {
    const std::string text = os::read_file(disk, path, 1u << 30).value();
    const double begin = now();
    archive::Redactor redactor(gate, host::default_host(), {}, "");
    std::string out;
    for (const std::string_view one : split(text, '\n')) redactor.pass(one, out);
    return now() - begin;
  }

  // Seconds of zstd -3 for a file, read and written.
  double zstd_alone(const std::string& path) {
    const double begin = now();
    const std::string text = os::read_file(disk, path, 1u << 30).value();
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    os::replace_file(disk, root + "/whole.zst", out).value();
    return now() - begin;
  }

  void speed() {
    double gate_s = 0, clean_s = 0, zstd_s = 0, raw_s = 0;
    std::size_t measured = 0;
    for (const std::string& path : files) {
      gate_s += gate_alone(path);
      clean_s += copy(path, true);
      zstd_s += zstd_alone(path);
      raw_s += copy(path, false);
      if (++measured == 8) break;
    }
    const double mb = static_cast<double>(measured) * (kFile >> 20);
    fmt::print(
        "MB/s: gate {:.0f}, archived through the gate {:.0f}, zstd -3 {:.0f}, archived as it is {:.0f}\n",
        mb / gate_s, mb / clean_s, mb / zstd_s, mb / raw_s);
    expect("archiving to the gate alone", gate_s / clean_s, kOfGate, true);
    expect("archiving without the gate to zstd -3", zstd_s / raw_s, kOfZstd, true);
  }

  Result<EventId> deliver(const std::string& payload) {
    hook::Envelope envelope;
    envelope.event = "SessionStart";
    std::string_view rest = payload;
    return hook::Inbox(disk, clock, home.inbox())
        .deliver(
            envelope,
            [&](char* to, std::size_t size) -> Result<std::size_t> {
              const std::size_t n = rest.copy(to, size);
              rest.remove_prefix(n);
              return n;
            },
            hook::Flags::Sync::process);
  }

  Json run(std::string_view operation, const Json& args) {
    return engine->run(*ops::find_operation(operation), args).value();
  }

  // A start that arrives in the longest step waits for its end and for its own answer.
  void import() {
    const double begin = now();
    run("import.transcripts", Json::object({{"directory", root + "/host"}}));
    double longest = 0, slowest = 0, last = now();
    for (int starts = 0;;) {
      const double before = now();
      const bool more = engine->step().value();
      longest = std::max(longest, now() - before);
      if (!more) break;
      if (now() - last < 1) continue;
      const EventId event =
          deliver(
              fmt::format(R"({{"session_id":"new-{}","cwd":"{}/proj","source":"startup"}})", ++starts, root))
              .value();
      const double asked = now();
      engine->answer(event, clock.boot_ns() + 3'000'000'000).value();
      slowest = std::max(slowest, now() - asked);
      last = now();
    }
    const double seconds = now() - begin;
    fmt::print("imported, archived and indexed in {:.1f} s, {:.1f} MB/s\n", seconds,
               static_cast<double>(bytes >> 20) / seconds);
    expect("seconds that a session's start waits", longest + slowest, kDeadline, false);
    expect("megabytes of the process", megabytes_of_process(), kMostMegabytes, false);
    const Json found = run("search", Json::object({{"query", "quagga2x"}, {"all", true}}));
    expect("results for a word of an old prompt", static_cast<double>(found["results"].items().size()), 1,
           true);
    const auto index = engine->db().integer("SELECT sum(length(block)) FROM passage_index_data").value();
    fmt::print("index {:.1f} KB for each MB\n",
               static_cast<double>(index.value_or(0)) / 1024 / static_cast<double>(bytes >> 20));
  }
};

}  // namespace

int main(int argc, char** argv) {
  bool check = false;
  std::uint64_t megabytes = 64;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--check")
      check = true;
    else
      megabytes = std::strtoull(argv[i], nullptr, 10);
  }
  char root[] = "/tmp/bench-archive-XXXXXX";
  if (!mkdtemp(root)) return 1;
  bool good = false;
  {
    Bench bench(root);
    bench.generate(megabytes);
    bench.import();
    bench.speed();
    good = bench.good;
  }
  std::filesystem::remove_all(root);
  return check && !good ? 1 : 0;
}
