// The ledger of model calls on a disk that fails: what a model was asked for is never counted as less, its
// replies are stored once, and every turn gets its summary.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "fault/story.h"
#include "ops/settings.h"
#include "store/model_calls.h"
#include "support/scripted_provider.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using agent::Request;
using agent::Trouble;

constexpr std::int64_t kBudget = 1'000'000;

constexpr std::uint64_t kOneOf = 2;  // the story is long
const std::uint64_t kStep = kStride * kOneOf;

// A machine whose model answers slowly, fails in several ways until the breaker opens, and works again.
class ModelStory {
 public:
  ModelStory() {
    m.sync = hook::Flags::Sync::disk;
    m.provider = &provider;
    provider.script = [this](SessionId, const Request& request) { return next_plan(request); };
    must(m.open());
    must(ops::set_setting(m.disk, m.home, "budget.daily_tokens", std::to_string(kBudget)));
    m.engine->reload();
  }
  ~ModelStory() { m.close(); }

  // Three turns of two sessions, with time for the model between them. `work` lets the engine work.
  void play(const std::function<void()>& work) {
    int uses = 0;
    for (const char* session : {"one", "two", "one"}) {
      Chat chat;
      chat.session = session;
      {
        const SimDisk::Onlooker hooks_do_not_fail(m.disk);
        m.deliver(chat.prompt(fmt::format("request {}", ++turns_)));
        for (int i = 0; i < 2; ++i) m.deliver(chat.ran("make", "t" + std::to_string(++uses)));
        m.deliver(chat.stop("Done."));
      }
      for (const Millis pause : {0ms, 1000ms, 2000ms, 40'000ms}) {
        m.clock.advance(pause);
        work();
      }
    }
  }

  // Until the model has done all: pauses, leases and the next look for backlog pass.
  void finish() {
    for (int i = 0; i < 20 && (i == 0 || !is_done()); ++i) {
      m.clock.advance(6min);
      must(m.engine->tick());
      must(m.drain());
    }
  }
  bool is_done() {
    return m.number("SELECT count(*) FROM pending_messages WHERE status <> 'processed'") == 0 &&
           m.number("SELECT count(*) FROM redistil_turns") == 0;
  }

  void expect_whole() {
    EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"}));
    EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
    for (const char* box : {"new", "cur", "bad"}) EXPECT_EQ(m.files(box), Lines{}) << box;
    for (const EventId& id : m.delivered)
      EXPECT_EQ(
          m.number("SELECT count(*) FROM events WHERE outcome = 'stored' AND event_id = '" + id.value + "'"),
          1);
    EXPECT_EQ(m.rows("SELECT status, count(*) FROM pending_messages GROUP BY 1"), (Lines{"processed|9"}));
    EXPECT_EQ(m.number("SELECT count(*) FROM redistil_turns"), 0);
    EXPECT_EQ(m.rows("SELECT request, provider, completed FROM session_summaries ORDER BY 1"),
              (Lines{"request 1|scripted|Model did it.", "request 2|scripted|Model did it.",
                     "request 3|scripted|Model did it."}));
    // Each event has the observation of one reply.
    EXPECT_EQ(
        m.rows("SELECT e.seq, count(*) FROM events e JOIN observation_evidence v ON v.event_seq = e.seq "
               "JOIN observations o ON o.id = v.observation_id WHERE o.title GLOB 'reply *' GROUP BY 1 "
               "HAVING count(*) <> 1"),
        Lines{});
    EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE title GLOB 'reply *'"), 9);
    EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
  }

  // The ledger has every request, and counts no request as less than it used.
  void expect_counted() {
    EXPECT_EQ(m.number("SELECT count(*) FROM model_calls WHERE outcome = 'open'"), 0);
    std::int64_t used_in_all = 0;
    for (const auto& [batch, used] : used_) {
      used_in_all += used;
      EXPECT_GE(m.number("SELECT sum(input_tokens + output_tokens) FROM model_calls WHERE batch_id = '" +
                         batch + "'"),
                used)
          << batch;
    }
    const store::Spent spent = must(store::spent_since(m.db(), {}));
    EXPECT_GE(spent.calls, std::ssize(provider.requests));
    EXPECT_GE(spent.tokens(), used_in_all);
    EXPECT_LE(spent.tokens(), kBudget);
  }

  Machine m;
  ScriptedProvider provider{m.clock};

 private:
  // What the model does with its n-th request. It uses the tokens when it is asked, whether or not its answer
  // is ever read.
  Plan next_plan(const Request& request) {
    const auto number = provider.requests.size();
    std::string text;
    for (const std::int64_t event : events_in(request))
      text += observation_text(fmt::format("reply {} about event {}", number, event), {event});
    text += "<summary><completed>Model did it.</completed></summary>";
    // Nearly all that was reserved: a lost call that counts for less is found.
    const agent::Usage usage{std::ssize(request.text) + std::ssize(request.system), 3900, 0, {}};
    Plan plan = Plan::says(text);
    std::get<agent::Reply>(plan.what).usage = usage;
    if (number == 1) plan.reply_after = 2s;
    if (number == 2) plan = Plan::fails(Trouble::Kind::transient);  // does not say what it used
    if (number >= 3 && number <= 5) {
      plan = Plan::fails(Trouble::Kind::transient);
      std::get<Trouble>(plan.what).usage = usage;
    }
    if (number == 4) plan.reply_after = 1s;
    used_[request.batch_id] += usage.input_tokens + usage.output_tokens;
    return plan;
  }

  std::map<std::string, std::int64_t> used_;  // by batch
  int turns_ = 0;
};

std::uint64_t calls_of_the_story(SimDisk::Calls which) {
  ModelStory story;
  const std::uint64_t before = story.m.disk.calls(which);
  story.play([&] { must(story.m.drain()); });
  const std::uint64_t calls = story.m.disk.calls(which) - before;
  story.finish();
  story.expect_counted();
  story.expect_whole();
  EXPECT_GT(story.provider.requests.size(), 5u);
  EXPECT_TRUE(story.m.log.has("works again"));
  return calls;
}

// The daemon dies at its k-th call to the disk, wherever that is in the story, and the next one goes on.
// Returns how many calls of the model were lost by that.
std::int64_t die_at(std::uint64_t k, const std::function<void(SimDisk&)>& die) {
  ModelStory story;
  Machine& m = story.m;
  m.disk.halt_at(k);
  story.play([&] {
    if (m.drain().ok()) return;
    EXPECT_TRUE(m.disk.halted());
    m.close();
    die(m.disk);
    must(m.open());
    must(m.drain());
  });
  story.finish();
  story.expect_counted();
  story.expect_whole();
  return m.number("SELECT count(*) FROM model_calls WHERE outcome = 'lost'");
}

TEST(ModelCallsCrash, AtAnyCallCountsWhatWasAskedAndStoresEachReplyOnce) {
  const std::uint64_t calls = calls_of_the_story(SimDisk::Calls::changing);
  ASSERT_GT(calls, 100u);
  std::int64_t lost = 0;
  for (std::uint64_t k = 1; k <= calls; k += kStep) {
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
    lost += die_at(k, [](SimDisk& disk) { disk.crash(); });
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(lost, 0);
}

TEST(ModelCallsCrash, ByAPowerCutCountsWhatWasAskedAndStoresEachReplyOnce) {
  const std::uint64_t calls = calls_of_the_story(SimDisk::Calls::changing);
  std::int64_t lost = 0;
  for (std::uint64_t k = 1; k <= calls; k += kStep) {
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
    lost += die_at(k, [k](SimDisk& disk) { disk.power_cut(k); });
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(lost, 0);
}

TEST(ModelCallsDiskError, OnceAtAnyCallCountsWhatWasAskedAndStoresEachReplyOnce) {
  const std::uint64_t calls = calls_of_the_story(SimDisk::Calls::all);
  for (const int error : {ENOSPC, EIO}) {
    for (std::uint64_t k = 1; k <= calls; k += kStep) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      ModelStory story;
      story.m.disk.fail_at(k, error, SimDisk::Calls::all);
      story.play([&] {
        for (int i = 0; i < 4 && !story.m.drain().ok(); ++i) continue;
      });
      story.m.disk.clear_faults();
      story.finish();
      story.expect_counted();
      story.expect_whole();
      if (testing::Test::HasFailure()) return;
    }
  }
}

// The disk refuses every change from some call on, and works again after a while, or only after a restart.
TEST(ModelCallsDiskError, ThatLastsCountsWhatWasAskedAndStoresEachReplyOnce) {
  const std::uint64_t calls = calls_of_the_story(SimDisk::Calls::changing);
  for (const int error : {ENOSPC, EIO}) {
    for (std::uint64_t k = 1; k <= calls; k += kStep) {
      SCOPED_TRACE("errno " + std::to_string(error) + " from call " + std::to_string(k));
      ModelStory story;
      int failures = 0;
      story.m.disk.fail_from(k, error);
      story.play([&] {
        for (int i = 0; i < 3 && !story.m.drain().ok(); ++i) ++failures;
        if (failures <= 6) return;
        story.m.disk.clear_faults();
        if (k % 2 == 0) must(story.m.open());
        failures = 0;
      });
      story.m.disk.clear_faults();
      story.finish();
      story.expect_counted();
      story.expect_whole();
      if (testing::Test::HasFailure()) return;
    }
  }
}

// The store cannot note the failure: it is handled again and again, and is still one failure of the model.
TEST(ModelCallsDiskError, AFailureOfTheModelIsCountedOnceHoweverOftenItIsHandled) {
  Machine m;
  ScriptedProvider provider{m.clock};
  m.provider = &provider;
  must(m.open());
  provider.script = [](SessionId, const Request&) {
    Plan plan = Plan::fails(Trouble::Kind::transient);
    plan.reply_after = 1s;
    return plan;
  };
  Chat chat;
  m.deliver(chat.prompt("work"));
  m.deliver(chat.ran("make", "t1"));
  m.deliver(chat.stop("Done."));
  must(m.drain());
  m.clock.advance(1s);
  m.disk.fail_from(1, ENOSPC);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(m.drain().ok());
  m.disk.clear_faults();
  must(m.drain());
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
  EXPECT_EQ(m.rows("SELECT DISTINCT retry_count, last_error FROM pending_messages"),
            (Lines{"1|transient: no luck"}));
  m.close();
}

}  // namespace
}  // namespace cairn::test
