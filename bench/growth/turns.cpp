// Long turns, many turns, late events, the queue, and what an event costs.
#include "growth.h"
#include "store/queue.h"
#include "store/sql.h"

namespace cairn::bench {

namespace {

constexpr int kRounds = 21;

void open_turn(Home& home, const std::string& session, int calls, std::size_t bytes = 300) {
  home.prompt(session);
  for (int i = 0; i < calls; ++i) {
    home.call(session, bytes);
    if (i % 200 == 199) home.drain();
  }
  home.drain();
  home.start_us();  // the first summary of the turn is not what is measured
  home.drain();
}

// Something to tell the next session, but no turn that is open.
void ended_turn(Home& home) {
  home.prompt("ended");
  for (int i = 0; i < 10; ++i) home.call("ended");
  home.stop("ended");
  home.drain();
}

void start_beside_a_turn(const std::string& root, const Scale& scale, Rows& rows) {
  Home none(root + "/none");
  ended_turn(none);
  const double without = none.median_start_us(kRounds);
  for (const int calls : {500, scale.of(1500, 5000)}) {
    Home beside(root + "/calls" + std::to_string(calls));
    open_turn(beside, "busy", calls);
    rows.push_back({"session start beside an open turn at work", "us", "none", without,
                    fmt::format("{} calls", calls), beside.median_start_us(kRounds, "busy"),
                    calls == 500 ? 0 : 4.0});
    rows.push_back({"... that had no event since", "us", "none", without, fmt::format("{} calls", calls),
                    beside.median_start_us(kRounds), 2.0});
  }
  const int large = scale.of(100, 1000);
  Home beside(root + "/large");
  open_turn(beside, "busy", large, 100'000);
  reset_peak();
  const double before = peak_mb();
  const double took = beside.median_start_us(kRounds, "busy");
  rows.push_back(
      {"... of large texts, at work", "us", "none", without, fmt::format("{} x 100 KB", large), took, 4.0});
  rows.push_back({"... memory for it", "MB", "before", before, "most", peak_mb(), 2.0});
}

void open_turns(Home& home, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string session = fmt::format("open-{}", i);
    home.prompt(session);
    for (int k = 0; k < 3; ++k) home.call(session);
    if (i % 50 == 49) home.drain();
  }
  home.drain();
}

// Beside few the context shows as much as beside many.
void start_beside_many(const std::string& root, const Scale& scale, Rows& rows) {
  Home few(root + "/few"), many(root + "/many");
  const int count = scale.of(200, 1000);
  open_turns(few, 20);
  open_turns(many, count);
  const double first_few = few.start_us() / 1000, first_many = many.start_us() / 1000;
  few.drain();
  many.drain();
  const std::string name = fmt::format("{} turns", count);
  rows.push_back(
      {"session start beside open turns at work", "ms", "20 turns", first_few, name, first_many, 3.0});
  rows.push_back({"... that had no event since", "us", "20 turns", few.median_start_us(kRounds), name,
                  many.median_start_us(kRounds), 2.0});
}

// Processor time of one late event, with all that it causes.
double late_event_ms(const std::string& root, int calls) {
  Home home(root);
  open_turn(home, "busy", calls);
  home.stop("busy");
  home.drain();
  const double begin = processor_seconds();
  constexpr int kLate = 5;
  for (int i = 0; i < kLate; ++i) {
    home.call("busy");
    home.drain();
  }
  return 1000 * (processor_seconds() - begin) / kLate;
}

double claim_us(const std::string& root, int pending) {
  Home home(root);
  open_turn(home, "busy", pending);
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const double begin = now_us();
    const auto transaction = must(store::Transaction::begin(home.db()));
    if (must(store::claim(home.db(), home.clock().now(), 100, std::chrono::minutes(5))))
      die("a claim of an open turn");
    times.push_back(now_us() - begin);
  }
  return at(times, 0.5);
}

// Processor time of one event in a turn that has `before` already.
double event_us(const std::string& root, int before) {
  Home home(root);
  open_turn(home, "busy", before);
  constexpr int kEvents = 200;
  for (int i = 0; i < kEvents; ++i) home.call("busy");
  const double begin = processor_seconds();
  home.drain();
  home.start_us();
  home.drain();
  return 1e6 * (processor_seconds() - begin) / kEvents;
}

}  // namespace

void measure_turns(const std::string& root, const Scale& scale, Rows& rows) {
  start_beside_a_turn(root, scale, rows);
  start_beside_many(root, scale, rows);
  const int late = scale.of(1000, 5000), pending = scale.of(2000, 10'000), long_turn = scale.of(1500, 10'000);
  rows.push_back({"late event on an ended turn, processor", "ms", "10 calls",
                  late_event_ms(root + "/l10", 10), fmt::format("{} calls", late),
                  late_event_ms(root + "/late", late), 10});
  rows.push_back({"queue claim beside an open turn", "us", "10 pending", claim_us(root + "/q10", 10),
                  fmt::format("{} pending", pending), claim_us(root + "/queue", pending), 2.0});
  rows.push_back({"an event, with its summary, processor", "us", "in a turn of 10",
                  event_us(root + "/e10", 10), fmt::format("of {}", long_turn),
                  event_us(root + "/event", long_turn), 1.5});
}

}  // namespace cairn::bench
