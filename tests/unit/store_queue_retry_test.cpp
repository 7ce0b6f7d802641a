// Leases, retries, stuck messages, and which session comes next.
#include <gtest/gtest.h>

#include <set>

#include "store/queue.h"
#include "store/queue_admin.h"
#include "support/queue_fixture.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using QueueRetry = QueueTest;

TEST_F(QueueRetry, AMessageHasOneTryMoreThanRetries) {
  for (const int max : {0, 1, 3}) {
    start_over();
    fill(1);
    int attempts = 0;
    while (const auto batch = claim()) {
      ++attempts;
      EXPECT_EQ(must(store::return_with_retry(m().db(), *batch, "no luck", {max, 7}, m().clock.now())), 1);
      m().clock.advance(10min);
    }
    EXPECT_EQ(attempts, max + 1);
    EXPECT_EQ(m().rows("SELECT status, retry_count, last_error FROM pending_messages"),
              (Lines{"failed|" + std::to_string(max) + "|no luck"}));
    EXPECT_EQ(m().number("SELECT count(*) FROM evidence WHERE input_payload IS NOT NULL"), 1);
  }
}

TEST_F(QueueRetry, TheLastTryIsMadeAloneSoThatOnlyTheBadMessageFails) {
  fill(3);
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto batch = claim();
    if (!batch) {
      if (must(store::queue_counts(m().db())).work() == 0) break;
      m().clock.advance(1min);
      continue;
    }
    bool bad = false;
    for (const MessageId id : batch->messages) bad |= id.value == 2;
    if (bad)
      must(store::return_with_retry(m().db(), *batch, "bad message", {3, 7}, m().clock.now()));
    else
      must(store::complete(m().db(), *batch, m().clock.now()));
  }
  EXPECT_EQ(statuses(), "processed failed processed");
}

TEST_F(QueueRetry, ThePauseDoublesUpToALimitAndItsJitterComesFromTheSeed) {
  for (int retry = 0; retry < 30; ++retry) {
    const Millis whole = std::min<Millis>(1s * (1 << std::min(retry, 10)), 5min);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Millis delay = store::retry_delay(retry, seed);
      EXPECT_GE(delay, whole * 3 / 4);
      EXPECT_LE(delay, whole * 5 / 4);
      EXPECT_EQ(delay, store::retry_delay(retry, seed));
    }
  }
  std::set<Millis> different;
  for (std::uint64_t seed = 0; seed < 200; ++seed) different.insert(store::retry_delay(3, seed));
  EXPECT_GT(different.size(), 100u);
}

TEST_F(QueueRetry, ARetryIsNotClaimedBeforeItsPauseIsOverAndItsSessionKeepsItsOrder) {
  fill(1);
  must(store::return_with_retry(m().db(), *claim(), "no luck", {3, 7}, m().clock.now()));
  fill(1);  // comes later, must not overtake
  EXPECT_FALSE(claim());
  const Millis pause = store::retry_delay(0, 7);
  m().clock.advance(pause - 1ms);
  EXPECT_FALSE(claim());
  m().clock.advance(1ms);
  EXPECT_EQ(ids(claim()), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(QueueRetry, AClockThatIsSetBackDelaysNoMessage) {
  fill(1);
  must(store::return_with_retry(m().db(), *claim(), "no luck", {3, 7}, m().clock.now()));
  m().clock.set_wall(m().clock.now() - 24h);
  EXPECT_EQ(ids(claim()), (std::vector<std::int64_t>{1}));
  m().clock.set_wall(m().clock.now() - 24h);
  EXPECT_EQ(must(store::recover_lapsed(m().db(), 3, m().clock.now())).waiting, 1);
}

TEST_F(QueueRetry, ProcessWaitEndsEveryPause) {
  fill(1);
  must(store::return_with_retry(m().db(), *claim(), "no luck", {3, 7}, m().clock.now()));
  must(m().drain());
  EXPECT_EQ(statuses(), "pending");
  must(m().engine->end_open_turns());
  must(m().drain());
  EXPECT_EQ(statuses(), "processed");
}

TEST_F(QueueRetry, AManualRetryRestoresAllTriesAndClearsTheError) {
  fill(1);
  must(store::return_with_retry(m().db(), *claim(), "no luck", {0, 7}, m().clock.now()));
  EXPECT_EQ(statuses(), "failed");
  EXPECT_TRUE(must(store::retry_message(m().db(), MessageId{1})));
  EXPECT_EQ(
      m().rows("SELECT status, retry_count, completed_at_epoch, last_error, started_processing_at_epoch, "
               "not_before_epoch FROM pending_messages"),
      (Lines{"pending|0|-|-|-|0"}));
  for (int attempt = 0; attempt <= 2; ++attempt) {
    const auto batch = claim();
    ASSERT_TRUE(batch) << attempt;
    must(store::return_with_retry(m().db(), *batch, "no luck", {2, 7}, m().clock.now()));
    m().clock.advance(10min);
  }
  EXPECT_EQ(statuses(), "failed");
}

TEST_F(QueueRetry, AProcessedOrUnknownMessageIsNotRetried) {
  fill(1);
  must(m().drain());
  EXPECT_FALSE(must(store::retry_message(m().db(), MessageId{1})));
  EXPECT_FALSE(must(store::retry_message(m().db(), MessageId{99})));
  EXPECT_EQ(statuses(), "processed");
}

TEST_F(QueueRetry, ResettingOneSessionLeavesTheOthersAlone) {
  fill(2, "one");
  fill(2, "two");
  claim();
  claim();
  EXPECT_EQ(must(store::retry_session(m().db(), SessionId{1})), 2);
  EXPECT_EQ(statuses(), "pending pending processing processing");
  EXPECT_EQ(must(store::retry_session(m().db(), SessionId{1})), 2);
}

TEST_F(QueueRetry, AHeartbeatKeepsTheLeaseAndReportsItsLoss) {
  fill(1);
  const auto batch = claim();
  m().clock.advance(4min);
  EXPECT_TRUE(must(store::extend_lease(m().db(), *batch, m().clock.now(), 5min)));
  m().clock.advance(4min);
  EXPECT_EQ(must(store::recover_lapsed(m().db(), 3, m().clock.now())).waiting, 0);
  m().clock.advance(1min);
  EXPECT_EQ(must(store::recover_lapsed(m().db(), 3, m().clock.now())).waiting, 1);
  EXPECT_FALSE(must(store::extend_lease(m().db(), *batch, m().clock.now(), 5min)));
  EXPECT_EQ(statuses(), "pending");
}

TEST_F(QueueRetry, TheEngineTakesBackLapsedLeasesEveryMinute) {
  fill(2);
  claim();
  must(m().drain());
  EXPECT_EQ(statuses(), "processing processing");  // its session is in work
  m().clock.advance(6min);
  must(m().engine->tick());
  EXPECT_TRUE(m().log.has("queue recovered 2 messages"));
  must(m().drain());
  EXPECT_EQ(statuses(), "processed processed");
}

TEST_F(QueueRetry, AgeIsStrictAndZeroCountsAll) {
  fill(1);
  claim();
  const WallTime start = m().clock.now();
  EXPECT_EQ(must(store::stuck_count(m().db(), 0ms, start)), 1);
  EXPECT_EQ(must(store::stuck_count(m().db(), 1000ms, start + 999ms)), 0);
  EXPECT_EQ(must(store::stuck_count(m().db(), 1000ms, start + 1000ms)), 0);
  EXPECT_EQ(must(store::stuck_count(m().db(), 1000ms, start + 1001ms)), 1);
}

TEST_F(QueueRetry, AMessageInWorkAlwaysSaysSinceWhen) {
  fill(1);
  EXPECT_EQ(m().db().exec("UPDATE pending_messages SET status = 'processing'").error().code, Code::invalid);
  EXPECT_EQ(m().db()
                .exec("UPDATE pending_messages SET status = 'processing', batch_id = 'b', lease = 'l'")
                .error()
                .code,
            Code::invalid);
  claim();
  EXPECT_EQ(m().db().exec("UPDATE pending_messages SET started_processing_at_epoch = NULL").error().code,
            Code::invalid);
}

TEST_F(QueueRetry, ZeroResetsAllOfThemEvenThoseOfTheSameMillisecond) {
  fill(2);
  claim();
  EXPECT_EQ(must(store::recover_stuck(m().db(), 1ms, 3, m().clock.now())).waiting, 0);
  EXPECT_EQ(must(store::recover_stuck(m().db(), 0ms, 3, m().clock.now())).waiting, 2);
  EXPECT_EQ(statuses(), "pending pending");
}

TEST_F(QueueRetry, AfterACrashABatchIsClaimedOneByOneAndOnlyTheBadMessageFails) {
  fill(5);
  int crashes = 0;
  while (true) {
    const auto batch = claim();
    if (!batch) break;
    if (crashes > 0) {
      EXPECT_EQ(batch->messages.size(), 1u);
    }
    bool bad = false;
    for (const MessageId id : batch->messages) bad |= id.value == 3;
    if (!bad) {
      must(store::complete(m().db(), *batch, m().clock.now()));
      continue;
    }
    ASSERT_LT(++crashes, 20);
    must(store::recover_all(m().db(), 3, m().clock.now()));
  }
  EXPECT_EQ(crashes, 1 + 4);  // with the others, then max + 1 times alone
  EXPECT_EQ(m().rows("SELECT status, retry_count FROM pending_messages ORDER BY id"),
            (Lines{"processed|0", "processed|0", "failed|3", "processed|0", "processed|0"}));
  EXPECT_EQ(m().text("SELECT last_error FROM pending_messages WHERE id = 3"), "its worker died");
}

TEST_F(QueueRetry, AMessageThatHappenedToBeAloneCountsItsTry) {
  fill(1);
  claim();
  EXPECT_EQ(must(store::recover_stuck(m().db(), 0ms, 1, m().clock.now())).waiting, 1);
  claim();
  EXPECT_EQ(must(store::recover_stuck(m().db(), 0ms, 1, m().clock.now())).failed, 1);
  EXPECT_EQ(statuses(), "failed");
}

TEST_F(QueueRetry, WhatComesAfterAMessageThatWasLeftBehindWaitsForItsTurn) {
  fill(2);
  claim();
  must(store::recover_all(m().db(), 3, m().clock.now()));
  fill(3);
  std::vector<std::size_t> sizes;
  while (const auto batch = claim()) {
    sizes.push_back(batch->messages.size());
    must(store::complete(m().db(), *batch, m().clock.now()));
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 3}));
}

TEST_F(QueueRetry, ReleasingCountsNoTry) {
  fill(2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(must(store::return_without_retry(m().db(), *claim(), "not now")), 2);
  EXPECT_EQ(m().rows("SELECT DISTINCT status, retry_count, solo, last_error FROM pending_messages"),
            (Lines{"pending|0|0|not now"}));
}

TEST_F(QueueRetry, ABusySessionDoesNotStarveTheOthers) {
  fill(50, "busy");
  fill(2, "quiet");
  std::vector<std::int64_t> served;
  for (int i = 0; i < 6; ++i) {
    const auto batch = must(store::claim(m().db(), m().clock.now(), 5, 5min));
    ASSERT_TRUE(batch);
    served.push_back(batch->session.value);
    must(store::complete(m().db(), *batch, m().clock.now()));
    if (i == 3) fill(1, "late");
  }
  EXPECT_EQ(served, (std::vector<std::int64_t>{1, 2, 1, 1, 3, 1}));
}

TEST_F(QueueRetry, SessionsTakeTurnsByBatches) {
  for (const char* name : {"one", "two", "three"}) fill(6, name);
  std::vector<std::int64_t> served;
  while (const auto batch = must(store::claim(m().db(), m().clock.now(), 3, 5min))) {
    served.push_back(batch->session.value);
    must(store::complete(m().db(), *batch, m().clock.now()));
  }
  EXPECT_EQ(served, (std::vector<std::int64_t>{1, 2, 3, 1, 2, 3}));
}

TEST_F(QueueRetry, ASessionsMessagesAreWorkedInTheOrderTheyCameOneBatchAtATime) {
  fill(7);
  std::vector<std::int64_t> order;
  while (const auto batch = must(store::claim(m().db(), m().clock.now(), 2, 5min))) {
    EXPECT_FALSE(claim());
    for (const MessageId id : batch->messages) order.push_back(id.value);
    must(store::complete(m().db(), *batch, m().clock.now()));
  }
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace cairn::test
