// What a SessionStart costs as the store grows: the daemon's part of the answer from 1,000 and from 100,000
// observations (and a hundredth as many summaries), and from 20 and 500 sessions of a project, interleaved in
// one run. `--check` exits 1 when the larger store is more than 3 times as slow.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/engine.h"
#include "hook/inbox.h"
#include "store/observations.h"
#include "store/sessions.h"
#include "store/summaries.h"
#include "store/texts.h"

using namespace cairn;

namespace {

constexpr int kRounds = 60;
constexpr double kLimit = 3.0;

struct Bench {
  os::RealDisk disk;
  os::RealClock clock;
  os::RealProcesses processes;
  NullLog log;
  hook::Home home;
  std::string project;
  std::unique_ptr<daemon::Engine> engine;
  int starts = 0;

  Bench(const std::string& root, int observations, int sessions)
      : home(hook::Home::at(root + "/home")), project(root + "/proj") {
    std::filesystem::create_directories(project);
    engine = daemon::Engine::open(home, {disk, clock, processes, log, "", false}).value();
    if (observations > 0) fill(observations).value();
    for (int i = 0; i < sessions; ++i) add_session(i).value();
  }

  Result<EventId> deliver(const std::string& event, const std::string& payload) {
    hook::Envelope envelope;
    envelope.event = event;
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

  // One session with that many observations and a hundredth as many turns with a summary.
  Status fill(int observations) {
    TRY(deliver("SessionStart",
                fmt::format(R"({{"session_id":"old","cwd":"{}","source":"startup"}})", project)));
    while (TRY(engine->step())) {
    }
    store::Db& db = engine->db();
    auto transaction = TRY(store::Transaction::begin(db));
    const auto session = TRY(store::find_session(db, "claude-code", ContentId{"old"}));
    const MemoryId memory = TRY(store::ensure_memory_id(db, session->id, clock.now()));
    const std::int64_t now = epoch_ms(clock.now());
    for (int i = 0; i < observations; ++i) {
      store::Observation o;
      o.project = session->project;
      o.title = fmt::format("The parser of module {} reads its tokens twice", i);
      o.narrative = std::string(400, 'n');
      o.created_at = from_epoch_ms(now - i * 1000);
      TRY(store::add_observation(db, memory, o));
      if (i % 100 != 0) continue;
      store::Summary s;
      s.project = session->project;
      s.prompt_number = i / 100 + 1;
      s.request = fmt::format("make module {} faster", i);
      s.completed = std::string(300, 'c');
      s.created_at = o.created_at;
      TRY(store::put_summary(db, memory, s, s.created_at));
      store::Text said;
      said.session = session->id;
      said.prompt_number = s.prompt_number;
      said.kind = store::TextKind::answer;
      said.text = fmt::format("Module {} reads its tokens once now, because the parser keeps them.", i);
      said.at = s.created_at;
      TRY(store::add_text(db, said));
    }
    return transaction.commit();
  }

  // A session of three turns, each with an answer of a few sentences.
  Status add_session(int number) {
    const std::string id = fmt::format("session-{}", number);
    TRY(deliver("SessionStart",
                fmt::format(R"({{"session_id":"{}","cwd":"{}","source":"startup"}})", id, project)));
    while (TRY(engine->step())) {
    }
    store::Db& db = engine->db();
    auto transaction = TRY(store::Transaction::begin(db));
    const auto session = TRY(store::find_session(db, "claude-code", ContentId{id}));
    const MemoryId memory = TRY(store::ensure_memory_id(db, session->id, clock.now()));
    for (int turn = 1; turn <= 3; ++turn) {
      store::Summary s;
      s.project = session->project;
      s.prompt_number = turn;
      s.request = fmt::format("make module {} of part {} faster", number, turn);
      s.created_at = clock.now();
      TRY(store::put_summary(db, memory, s, s.created_at));
      store::Text said;
      said.session = session->id;
      said.prompt_number = turn;
      said.kind = store::TextKind::answer;
      for (int sentence = 0; sentence < 12; ++sentence)
        said.text +=
            fmt::format("Reader {} of module {} keeps {} tokens, because part {} asked for them twice. ",
                        sentence, number, 7 * sentence + turn, turn);
      said.at = s.created_at;
      TRY(store::add_text(db, said));
    }
    return transaction.commit();
  }

  // Microseconds from the delivered event to the answer.
  double answer() {
    const std::string payload =
        fmt::format(R"({{"session_id":"new-{}","cwd":"{}","source":"startup"}})", ++starts, project);
    const EventId event = deliver("SessionStart", payload).value();
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = engine->answer(event, clock.boot_ns() + 3'000'000'000).value();
    const auto end = std::chrono::steady_clock::now();
    CAIRN_ASSERT(answer.line.find("cairn-memory") != std::string::npos);
    return std::chrono::duration<double, std::micro>(end - begin).count();
  }
};

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// How much slower the second is; prints both.
double compare(Bench& small, std::string_view small_name, Bench& large, std::string_view large_name) {
  std::vector<double> a, b;
  for (int i = 0; i < kRounds; ++i) {
    a.push_back(small.answer());
    b.push_back(large.answer());
  }
  const double ratio = median(b) / median(a);
  fmt::print(
      "session start {:>20} {:8.0f} us\nsession start {:>20} {:8.0f} us\nratio {:.2f} (at most {:.1f})\n",
      small_name, median(a), large_name, median(b), ratio, kLimit);
  return ratio;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::string_view(argv[1]) == "--check";
  char root[] = "/tmp/bench-session-start-XXXXXX";
  if (!mkdtemp(root)) return 1;
  double ratio = 0;
  {
    Bench small(std::string(root) + "/small", 1'000, 0), large(std::string(root) + "/large", 100'000, 0);
    ratio = compare(small, "1,000 observations", large, "100,000 observations");
    Bench few(std::string(root) + "/few", 0, 20), many(std::string(root) + "/many", 0, 500);
    ratio = std::max(ratio, compare(few, "20 sessions", many, "500 sessions"));
  }
  std::filesystem::remove_all(root);
  return check && ratio > kLimit ? 1 : 0;
}
