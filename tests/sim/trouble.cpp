// What goes wrong in a schedule, and what people do to it.
#include <fmt/format.h>

#include <cerrno>

#include "intake/inbox_reader.h"
#include "ops/settings.h"
#include "sim/schedule.h"

namespace cairn::sim {

using test::SimDisk;

// The daemon dies at some call to the disk: while it works, or while it starts. Sometimes the next one sees
// what it left and then the power is cut.
void Schedule::crash() {
  repair_disk();
  // So that the queue has its turn, and something to do.
  if (dice_.percent(50)) work();
  if (m_.engine && dice_.percent(30)) process();
  if (outcome_.wrong) return;
  plan_crash();
  for (int tries = 0; tries < 4 && !m_.disk.halted() && !outcome_.wrong; ++tries) {
    if (!m_.engine)
      start();
    else if (dice_.percent(15))
      tick();
    else
      step_engine();
  }
  m_.disk.on_call(nullptr);
  if (outcome_.wrong) return;
  die(dice_.percent(20));
  if (!dice_.percent(25)) return;
  work();
  if (dice_.percent(50)) work();
  if (!outcome_.wrong) die(true);
}

// At some call to come the process ends: any, or one that makes a commit durable.
void Schedule::plan_crash() {
  if (dice_.percent(60)) {
    const auto which = dice_.percent(70) ? SimDisk::Calls::changing : SimDisk::Calls::all;
    return m_.disk.halt_at(dice_.below(dice_.percent(60) ? 12 : 60) + 1, which);
  }
  m_.disk.on_call([this, left = dice_.below(3)](std::string_view op, std::string_view) mutable {
    if (op == "sync" && left-- == 0) m_.disk.halt();
  });
}

// The process dies at this point, or the whole machine loses power.
void Schedule::die(bool with_power) {
  repair_disk();
  m_.disk.halt();
  m_.close();
  ++model_.lost_tries;
  if (with_power)
    m_.disk.power_cut(dice_.next());
  else
    m_.disk.crash();
  const SimDisk::Onlooker looking(m_.disk);
  if (const auto names = m_.disk.list(m_.home.inbox() + "/cur"))
    for (const std::string& name : *names)
      if (name.ends_with("." + std::to_string(intake::InboxReader::kMostDeaths)))
        model_.suspects.insert(name.substr(0, 32));
  with_power ? power_is_back() : say("daemon dies");
}

void Schedule::power_is_back() {
  model_.power_cut();
  hosts_.all_die();
  last_delivered_.reset();
  m_.clock.reboot(fmt::format("{:032x}", ++boots_));
  const std::int64_t seconds = dice_.between(5, 3000);
  m_.clock.advance(std::chrono::seconds(seconds));
  say(fmt::format("power is cut for {} s", seconds));
}

void Schedule::restart() {
  if (disk_fails_ || !m_.engine) return start();
  m_.close();
  say("daemon ends");
  if (dice_.percent(70)) start();
}

// Somebody sets the clock, forwards or back.
void Schedule::set_clock() {
  const std::int64_t ms =
      dice_.percent(50) ? dice_.between(-120'000, 120'000) : dice_.between(-200'000'000, 200'000'000);
  m_.clock.set_wall(m_.clock.now() + Millis(ms));
  model_.clock_was_set = true;
  say(fmt::format("clock is set by {} ms", ms));
}

void Schedule::break_disk() {
  if (disk_fails_) return repair_disk();
  disk_fails_ = true;
  if (dice_.percent(40)) {
    const std::uint64_t room = dice_.below(60'000);
    m_.disk.set_capacity(m_.disk.used() + room);
    return say(fmt::format("disk has {} bytes left", room));
  }
  static constexpr int kErrors[] = {EIO, ENOSPC, EROFS, EMFILE};
  const int error = kErrors[dice_.below(4)];
  const auto which = dice_.percent(60) ? SimDisk::Calls::changing : SimDisk::Calls::all;
  const std::uint64_t at = dice_.below(30) + 1;
  dice_.percent(50) ? m_.disk.fail_from(at, error, which) : m_.disk.fail_at(at, error, which);
  say(fmt::format("disk fails with errno {} from call {}", error, at));
}

void Schedule::repair_disk() {
  if (!disk_fails_) return;
  disk_fails_ = false;
  m_.disk.clear_faults();
  m_.disk.set_capacity(std::uint64_t{1} << 40);
  say("disk is well");
}

// A hook delivers in the middle of what the daemon does next.
void Schedule::interleave() {
  if (disk_fails_ || !capture_ || hosts_.on_their_way.empty()) return;
  auto left = std::make_shared<std::uint64_t>(dice_.below(20) + 1);
  m_.disk.on_call([this, left](std::string_view, std::string_view) {
    if (--*left != 0 || hosts_.on_their_way.empty()) return;
    const Call call = std::move(hosts_.on_their_way.front());
    hosts_.on_their_way.pop_front();
    m_.host = call.process;
    if (const auto id = m_.try_deliver(call.hook)) {
      model_.acknowledge(id->value, call.meaning, m_.sync == hook::Flags::Sync::disk,
                         epoch_ms(m_.clock.now()), m_.clock.boot_id());
      say("meanwhile hook " + call.meaning.key + " delivers " + id->value);
    } else {
      model_.fail(call.meaning);
    }
  });
}

// A provider that is usually fast and correct, but may be slower than its lease, silent, fail, or never send
// its id.
test::Plan Schedule::plan(const agent::Request& request) {
  test::Plan plan = test::Plan::learns_each(request);
  ++model_.lost_tries;
  if (ending_) return plan;
  using Kind = agent::Trouble::Kind;
  static constexpr Kind kKinds[] = {Kind::transient, Kind::rate_limited, Kind::quota,   Kind::auth,
                                    Kind::setup,     Kind::rejected,     Kind::canceled};
  if (dice_.percent(15)) plan = test::Plan::fails(kKinds[dice_.below(7)]);
  plan.reply_after = Millis(dice_.percent(50) ? dice_.between(0, 2000) : dice_.between(0, 500'000));
  if (dice_.percent(8)) plan.reply_after.reset();
  if (dice_.percent(20)) plan.id_after = Millis(dice_.between(0, 10'000));
  if (dice_.percent(8)) plan.id_after.reset();
  plan.id_with_reply = dice_.percent(20);
  return plan;
}

// A person at the command line.
void Schedule::operate() {
  if (!m_.engine) return start();
  if (dice_.percent(25)) return configure();
  const auto messages = invariants_.messages();
  const std::int64_t message = messages.empty() ? 1 : messages[dice_.below(messages.size())];
  const auto& conversations = hosts_.conversations();
  const std::string session =
      conversations.empty() ? "1" : conversations[dice_.below(conversations.size())].chat.session;
  std::pair<std::string, Json> what;
  switch (dice_.below(9)) {
    case 0: what = {"queue.retry", Json::object({{"id", message}})}; break;
    case 1: what = {"queue.retry", Json::object({{"session", session}})}; break;
    case 2: what = {"queue.retry", Json::object({{"stuck", true}, {"older_than", 0}})}; break;
    case 3: what = {"queue.abort", Json::object({{"id", message}})}; break;
    case 4: what = {"queue.clean", Json::object({{"keep", dice_.below(4)}})}; break;
    case 5: what = {"sessions.end", Json::object({{"id", session}})}; break;
    case 6: what = {"sessions.cleanup", Json::object({{"max_age", dice_.below(2) * 24}})}; break;
    case 7: what = {"sessions.repair", Json::object({{"missing_memory_id", true}})}; break;
    default: return process();
  }
  if (what.first == "queue.retry") ++model_.lost_tries;
  if (what.first == "sessions.end") model_.ended_by_hand.insert(session);
  if (what.first == "sessions.cleanup")
    for (const Conversation& c : conversations) model_.ended_by_hand.insert(c.chat.session);
  call_engine(what.first + " " + what.second.dump(), Actor::person, [&]() -> Status {
    TRY(m_.run(what.first, what.second));
    return {};
  });
}

void Schedule::process() {
  call_engine("process --wait", Actor::person, [&] { return m_.engine->end_open_turns(); });
}

void Schedule::configure() {
  const bool sync = dice_.percent(40);
  if (!sync) capture_ = !capture_;
  if (!sync) model_.capture_was_off = true;
  const std::string key = sync ? "hook.sync" : "capture.enabled";
  const std::string value = sync ? (dice_.percent(50) ? "disk" : "process") : capture_ ? "true" : "false";
  const Status set = ops::set_setting(m_.disk, m_.home, key, value);
  say(fmt::format("config set {} {}{}", key, value, set ? "" : ": " + set.error().message));
  const bool seen = dice_.percent(70);
  if (seen) m_.engine->reload();
  // A daemon that ends before it has seen this change cannot know that capture stayed on: its next start
  // takes the time since the last event for a pause.
  if (!seen || disk_fails_) model_.capture_was_off = true;
}

}  // namespace cairn::sim
