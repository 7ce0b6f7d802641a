#include "sim/schedule.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>
#include <utility>

#include "base/text.h"
#include "hook/control.h"
#include "hook/failures.h"
#include "ops/settings.h"
#include "sim/seeded_random.h"

namespace cairn::sim {

using test::must;

static constexpr std::size_t kTail = 30;  // lines that a failing schedule shows
static constexpr int kMaxWork = 400;      // steps after which an engine that still has work is stuck
static constexpr std::int64_t kSecondNs = 1'000'000'000;
static constexpr int kConversations = 4;  // as many as the worker holds at once

static Position position;

const Position& current_position() {
  return position;
}

namespace {

// A home as the first start leaves it, made once: most schedules begin there, some with an empty disk.
using Files = std::map<std::string, std::string>;

const Files& fresh_home() {
  static const Files files = [] {
    test::Machine m;
    must(m.open());
    m.close();
    Files all;
    for (const std::string& name : must(m.disk.list(m.home.data))) {
      const std::string path = m.home.data + "/" + name;
      if (!must(m.disk.stat(path)).is_dir) all[path] = m.read(path);
    }
    return all;
  }();
  return files;
}

}  // namespace

Schedule::Schedule(const Options& options)
    : options_(options), dice_(options.seed), hosts_(m_, dice_), invariants_(m_, model_) {
  const bool furnished = !dice_.percent(6);
  if (furnished) {
    for (const auto& [path, bytes] : fresh_home()) m_.disk.provide_file(path, bytes);
    for (const char* box : {"/tmp", "/new", "/cur", "/bad"}) m_.disk.provide_dir(m_.home.inbox() + box);
  }
  if (dice_.percent(50)) m_.disk.provide_file(m_.home.config_file, "[hook]\nsync = \"disk\"\n");
  if (dice_.percent(40)) {
    m_.provider = &provider_;
    provider_.ids = dice_.percent(80);
    provider_.script = [this](SessionId, const agent::Request& request) { return plan(request); };
  }
  seed_random_bytes(options.seed);
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(options.seed & 0x7fffffff), nullptr);
}

Outcome Schedule::run() {
  position = {options_.seed, 0};
  provide_old_sessions();
  const std::int64_t import_at = static_cast<std::int64_t>(options_.seed / 5) % (options_.steps / 2 + 1);
  const std::int64_t notes_at = static_cast<std::int64_t>(options_.seed / 7) % (options_.steps / 2 + 1);
  for (; step_ < options_.steps && !outcome_.wrong; ++step_) {
    position.step = step_;
    if (step_ == import_at) import_old_sessions();
    if (step_ == notes_at) store_notes();
    if (step_ == notes_at + options_.steps / 4) forget_note();
    if (step_ > 0 && step_ % 15 == 0) rename_projects();
    if (step_ == options_.steps / 2) merge_projects();
    if (outcome_.wrong) break;
    step();
  }
  if (!outcome_.wrong) end();
  if (m_.engine) {
    const std::string tables = invariants_.tables();
    if (options_.trace) std::printf("%s", tables.c_str());
    hash_.add(tables);
  }
  outcome_.hash = hash_.value();
  for (const std::string& line : tail_) outcome_.last_steps += line + "\n";
  return std::move(outcome_);
}

void Schedule::say(std::string what) {
  std::string line = fmt::format("{:4} {}", step_, what);
  if (options_.trace) std::printf("%s\n", line.c_str());
  hash_.add(line);
  tail_.push_back(std::move(line));
  if (tail_.size() > kTail) tail_.pop_front();
}

void Schedule::fail(std::string what) {
  if (outcome_.wrong) return;
  say("WRONG: " + what);
  outcome_.wrong = std::move(what);
  outcome_.step = step_;
}

void Schedule::step() {
  const auto roll = dice_.below(100);
  m_.clock.advance(Millis(dice_.between(0, 300)));
  if (disk_fails_ && dice_.percent(20)) return repair_disk();
  if (roll < 36) {
    say(hosts_.act());
    if (dice_.percent(60)) deliver_next();
    return;
  }
  if (roll < 60) return deliver_next();
  if (roll < 76) return work();
  if (roll < 80) return pass_time();
  if (roll < 83) return tick();
  if (roll < 87) return crash();
  if (roll < 89) return die(true);
  if (roll < 91) return restart();
  if (roll < 93) return break_disk();
  if (roll < 94) return set_clock();
  if (roll < 98) return operate();
  drain_all();
}

// Usually delivers the oldest call; sometimes a later one first, or one twice. Calls of a host without prompt
// ids stay in order: only the order shows what belongs together.
void Schedule::deliver_next() {
  auto& queue = hosts_.on_their_way;
  if (last_delivered_ && dice_.percent(5)) return deliver(Call(*last_delivered_));
  if (queue.empty()) return;
  std::size_t at = dice_.percent(15) ? dice_.below(queue.size()) : 0;
  for (std::size_t i = 0; i < at; ++i)
    if (queue[i].meaning.no_ids && queue[i].meaning.session == queue[at].meaning.session) at = i;
  const Call call = std::move(queue[at]);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
  deliver(call);
}

// What cairn-hook does, with the real inbox.
void Schedule::deliver(const Call& call) {
  const auto bytes = os::read_file(m_.disk, m_.home.flags(), hook::Flags::kBytes);
  const hook::Flags flags = hook::Flags::decode(bytes ? *bytes : "");
  if (!flags.capture) return say("hook " + call.meaning.key + ": capture is off");
  const bool dies = !disk_fails_ && dice_.percent(3);
  if (dies) m_.disk.fail_from(dice_.below(6) + 1, EIO);
  m_.host = call.process;
  m_.sync = flags.sync;
  const auto id = m_.try_deliver(call.hook);
  if (dies) m_.disk.clear_faults();
  last_delivered_ = call;
  if (!id) {
    model_.fail(call.meaning);
    say(fmt::format("hook {} {}", call.meaning.key, dies ? "dies" : id.error().message));
    if (!dies)
      hook::note_failure(m_.disk, m_.home, true,
                         {epoch_ms(m_.clock.now()), call.meaning.event, call.meaning.session, "no room"});
  } else {
    model_.acknowledge(id->value, call.meaning, flags.sync == hook::Flags::Sync::disk,
                       epoch_ms(m_.clock.now()), m_.clock.boot_id());
    say(fmt::format("hook {} delivers {}", call.meaning.key, id->value));
  }
  if (!m_.engine && dice_.percent(80)) start();
  const bool asks = any_of(call.meaning.event, {"SessionStart", "UserPromptSubmit", "PreCompact"});
  if (id && asks && m_.engine && dice_.percent(85)) ask(id->value, call.meaning);
}

void Schedule::ask(const std::string& id, const Meaning& meaning) {
  std::optional<context::Answer> answer;
  const bool slow = dice_.percent(10);
  const std::int64_t per_call = dice_.between(10, 400) * 1'000'000;
  if (slow) {
    m_.disk.on_call(
        [&](std::string_view, std::string_view) { m_.clock.advance(std::chrono::nanoseconds(per_call)); });
  }
  // Its time may be over before the daemon even begins.
  const bool late = dice_.percent(10);
  const std::string how = late ? ", late" : slow ? ", slowly" : "";
  call_engine("answer to " + id + how, Actor::engine, [&]() -> Status {
    auto got = m_.engine->answer(EventId{id}, m_.clock.boot_ns() + (late ? -1 : 3 * kSecondNs));
    // What was committed becomes durable right after it. Power cuts in between are among those at any call.
    unsynced_ = !m_.engine->sync().ok();
    answer = TRY(std::move(got));
    return {};
  });
  m_.disk.on_call(nullptr);
  if (!answer || !m_.engine || outcome_.wrong) return;
  const bool is_text = answer->line.starts_with(hook::kTextReply);
  if (!is_text && !slow && !late && model_.events[id].outcome == "stored")
    check_context(test::Machine::context_of(*answer), meaning);
  if (answer->receipt && dice_.percent(80))
    call_engine("receipt", Actor::engine, [&] { return m_.engine->confirm(*answer->receipt); });
}

// A new session is given the request of the turn that was finished last in its project.
void Schedule::check_context(const std::string& text, const Meaning& meaning) {
  const Json& source = last_delivered_->hook.payload["source"];
  if (meaning.event != "SessionStart" || (source.as_string() != "startup" && source.as_string() != "clear"))
    return;
  const auto newest = newest_finished_.find(meaning.project);
  if (newest == newest_finished_.end() || text.find(newest->second) != std::string::npos) return;
  // An end that came from a transcript is later than those the model knows of.
  const auto recovered = m_.engine->db().integer(
      "SELECT count(*) FROM events WHERE kind = 'stop' AND source = 'transcript' AND outcome = 'stored'");
  if (recovered && recovered->value_or(0) > 0) return;
  fail(fmt::format("a new session is not told of {}: {}", newest->second, text));
}

// The words of requests whose turn has ended, all of it safe in the store.
void Schedule::note_finished(const Meaning& stop) {
  if (stop.no_ids) newest_finished_.erase(stop.project);  // nothing says which request it ended
  if (stop.secret || stop.no_ids) return;
  for (const auto& [id, delivered] : model_.events) {
    const Meaning& meaning = delivered.meaning;
    if (meaning.event == "UserPromptSubmit" && meaning.prompt_id == stop.prompt_id &&
        meaning.session == stop.session && delivered.outcome == "stored" &&
        meaning.word.starts_with("request"))
      newest_finished_[meaning.project] = meaning.word;
  }
}

// Runs one call of the engine. The call may fail only if the disk fails; it may end the process. Afterwards
// the store is compared with the model.
void Schedule::call_engine(const std::string& what, Actor actor, const Work& body) {
  if (disk_fails_) model_.order_is_lost();
  const bool starts = !m_.engine;
  const Status done = body();
  last_failed_ = !done;
  if (actor == Actor::person && (!done || m_.disk.halted())) outcome_unknown_ = true;
  const bool unsynced = std::exchange(unsynced_, false);
  if (m_.disk.halted()) return say(what + " ends the daemon");
  say(what + (done ? "" : ": " + done.error().message));
  const bool allowed = disk_fails_ || done.ok() || done.error().code == Code::canceled ||
                       (actor == Actor::person &&
                        (done.error().code == Code::not_found || done.error().code == Code::invalid));
  if (!allowed) return fail(what + " failed on a working disk: " + done.error().message);
  if (!m_.engine) return;
  // The disk did not take what was committed. The next daemon writes it again: only then must it stay.
  if (unsynced) return die(false);
  std::set<std::string> before = model_.waiting;
  // A command that reported a failure may have succeeded: its commit was written and not synced, and the next
  // start finds it in the log.
  const bool late = starts && std::exchange(outcome_unknown_, false);
  if (const Wrong wrong = invariants_.after_step(late ? Actor::both : actor)) return fail(*wrong);
  if (provider_.open > kConversations) return fail(fmt::format("{} conversations at once", provider_.open));
  for (const std::string& id : before) {
    const Delivered& delivered = model_.events[id];
    if (delivered.outcome == "stored" && delivered.meaning.event == "Stop") note_finished(delivered.meaning);
  }
}

void Schedule::start() {
  call_engine("daemon starts", Actor::engine, [&] { return m_.open(); });
}

// True: there was something to do.
bool Schedule::step_engine() {
  bool did = false;
  call_engine("daemon works", Actor::engine, [&]() -> Status {
    auto stepped = m_.engine->step();
    unsynced_ = !m_.engine->sync().ok();
    did = TRY(std::move(stepped));
    return {};
  });
  return did;
}

void Schedule::work() {
  if (!m_.engine) return start();
  if (dice_.percent(15)) interleave();
  for (auto times = dice_.below(3) + 1; times > 0 && m_.engine && !outcome_.wrong; --times)
    if (!step_engine()) break;
  m_.disk.on_call(nullptr);
}

void Schedule::tick() {
  if (!m_.engine) return start();
  call_engine("daemon's minute", Actor::engine, [&] { return m_.engine->tick(); });
}

void Schedule::pass_time() {
  const std::int64_t seconds = dice_.percent(80) ? dice_.between(1, 90) : dice_.between(90, 2000);
  m_.clock.advance(std::chrono::seconds(seconds));
  say(fmt::format("{} s pass", seconds));
  if (seconds >= 60) tick();
}

// Works until nothing is left to do, and waits for the provider. An engine that always has more work is
// stuck. An error here is a failure, because the disk works.
void Schedule::drain() {
  for (int i = 0; m_.engine && !outcome_.wrong; ++i) {
    if (i == kMaxWork) return fail("the daemon does not come to rest");
    if (step_engine() || last_failed_ || !m_.engine) continue;
    if (!m_.engine->awaits()) return;
    m_.clock.advance(std::chrono::seconds(20));
  }
}

void Schedule::drain_all() {
  if (disk_fails_) repair_disk();
  if (!m_.engine) start();
  drain();
  // A file that a failing disk could not quarantine is tried again each minute.
  const auto holds = [&] {
    const test::SimDisk::Onlooker looking(m_.disk);
    return !m_.files("cur").empty();
  };
  if (!outcome_.wrong && m_.engine && holds()) {
    m_.clock.advance(std::chrono::seconds(60));
    tick();
    drain();
  }
  if (outcome_.wrong) return;
  if (const Wrong wrong = invariants_.at_rest()) fail(*wrong);
}

// All hosts end and time passes. Then the store must be complete.
void Schedule::end() {
  if (disk_fails_) repair_disk();
  ending_ = true;
  while (dice_.percent(90) && !hosts_.on_their_way.empty() && !outcome_.wrong) deliver_next();
  hosts_.all_die();
  say("all hosts are gone");
  import_old_sessions();
  for (const std::int64_t seconds : {1, 61, 700, 61}) {
    if (outcome_.wrong) return;
    m_.clock.advance(std::chrono::seconds(seconds));
    if (!m_.engine) start();
    tick();
    drain();
  }
  wait_for_old_sessions();
  forget_note();
  wait_for_forget();
  process();
  drain_all();
  if (outcome_.wrong) return;
  if (const Wrong wrong = invariants_.at_end(hosts_.transcript_calls)) return fail(*wrong);
  check_old_sessions();
  check_forgotten();
  check_renamed();
}

}  // namespace cairn::sim
