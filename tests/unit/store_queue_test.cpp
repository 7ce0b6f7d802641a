#include <gtest/gtest.h>
#include <sqlite3.h>

#include "store/evidence.h"
#include "store/queue.h"
#include "store/queue_admin.h"
#include "store/turns.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

// Reads events without processing the queue.
class Queue : public testing::Test {
 protected:
  Queue() { must(m.open()); }

  void take(const HookCall& call) {
    m.deliver(call);
    ASSERT_TRUE(must(m.engine->step()));
  }
  std::optional<store::Batch> claim(std::size_t max = 100) {
    return must(store::claim(m.db(), m.clock.now(), max, std::chrono::minutes(5)));
  }
  std::string statuses() {
    std::string all;
    for (const std::string& s : m.rows("SELECT substr(status, 1, 6) FROM pending_messages ORDER BY id"))
      all += (all.empty() ? "" : " ") + s;
    return all;
  }

  Machine m;
  Chat chat;
};

TEST_F(Queue, NothingIsClaimedWhileItsTurnIsOpen) {
  take(chat.prompt("work"));
  take(chat.ran("make", "t1"));
  EXPECT_FALSE(claim());
  take(chat.stop());
  const auto batch = claim();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->messages.size(), 2u);
  EXPECT_FALSE(claim());
}

TEST_F(Queue, AClaimCostsTheSameBesideLongOpenTurns) {
  const auto cost_beside = [&](int calls) {
    for (int i = 0; i < calls; ++i) m.deliver(chat.ran("make", "t" + std::to_string(calls + i)));
    must(m.drain());
    std::int64_t steps = 0;
    sqlite3_progress_handler(
        m.db().raw(), 1,
        [](void* count) {
          ++*static_cast<std::int64_t*>(count);
          return 0;
        },
        &steps);
    EXPECT_FALSE(must(store::claim(m.db(), m.clock.now(), {.wait = std::chrono::seconds(30)})));
    sqlite3_progress_handler(m.db().raw(), 0, nullptr, nullptr);
    return steps;
  };
  take(chat.prompt("work"));
  const std::int64_t small = cost_beside(1), large = cost_beside(600);
  EXPECT_LT(large, 2 * small) << small << " steps beside one message";
}

TEST_F(Queue, ATurnThatIsOpenedAgainKeepsItsMessages) {
  take(chat.prompt("work"));
  take(chat.ran("make", "t1"));
  take(chat.stop());
  must(store::reopen_turn(m.db(), SessionId{1}, 1));
  EXPECT_FALSE(claim());
  must(store::end_turn(m.db(), SessionId{1}, 1, store::TurnEnd::idle, m.clock.now()));
  EXPECT_EQ(claim()->messages.size(), 2u);
}

TEST_F(Queue, ABatchIsOfOneSessionTheOneThatWaitedLongest) {
  Chat other;
  other.session = "other";
  take(chat.prompt("one"));
  take(chat.ran("a", "t1"));
  take(other.prompt("two"));
  take(other.ran("b", "t2"));
  take(other.stop());
  EXPECT_EQ(claim()->session.value, 2);  // the first one's turn is open
  take(chat.stop());
  const auto batch = claim(1);
  EXPECT_EQ(batch->session.value, 1);
  EXPECT_EQ(batch->messages.size(), 1u);
  EXPECT_EQ(statuses(), "proces proces proces pendin");
}

TEST_F(Queue, TextsAreEvidenceFromTheBeginning) {
  take(chat.prompt("work"));
  take(chat.ran("make", "t1"));
  take(chat.ran("make", "t2"));
  take(chat.stop("Done."));
  const auto before = must(store::turn_events(m.db(), SessionId{1}, 1));
  EXPECT_EQ(before[1].texts.input, R"({"command":"make"})");
  const auto batch = claim();
  must(store::complete(m.db(), *batch, m.clock.now()));
  EXPECT_EQ(
      m.number("SELECT count(*) FROM pending_messages WHERE tool_input IS NOT NULL OR tool_response IS NOT "
               "NULL OR extra IS NOT NULL"),
      0);
  EXPECT_EQ(statuses(), "proces proces proces");
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status = 'processed'"), 3);
  // The two calls were equal: their texts are there once.
  EXPECT_EQ(m.number("SELECT count(DISTINCT input_payload) FROM evidence WHERE event_seq IN (2, 3)"), 1);
  // A turn can be distilled again as before.
  const auto after = must(store::turn_events(m.db(), SessionId{1}, 1));
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].texts.input, before[i].texts.input);
    EXPECT_EQ(after[i].texts.response, before[i].texts.response);
    EXPECT_EQ(after[i].texts.extra, before[i].texts.extra);
  }
}

TEST_F(Queue, ABatchThatIsNoLongerOursCannotBeCompleted) {
  take(chat.prompt("work"));
  take(chat.ran("make", "t1"));
  take(chat.stop());
  const auto lost = claim();
  EXPECT_EQ(must(store::recover_all(m.db(), 3, m.clock.now())).waiting, 2);
  EXPECT_EQ(statuses(), "pendin pendin");
  {
    auto transaction = must(store::Transaction::begin(m.db()));
    EXPECT_EQ(store::complete(m.db(), *lost, m.clock.now()).error().code, Code::canceled);
  }
  const auto again = claim();
  ASSERT_TRUE(again);
  EXPECT_NE(again->lease, lost->lease);
  must(store::complete(m.db(), *again, m.clock.now()));
  auto transaction = must(store::Transaction::begin(m.db()));
  EXPECT_EQ(store::complete(m.db(), *again, m.clock.now()).error().code, Code::canceled);
}

TEST_F(Queue, ABatchOfWhichOneMessageIsGoneIsNotCompleted) {
  take(chat.prompt("work"));
  take(chat.ran("make", "t1"));
  take(chat.stop());
  const auto batch = claim();
  must(m.db().exec("DELETE FROM pending_messages WHERE id = 1"));
  auto transaction = must(store::Transaction::begin(m.db()));
  EXPECT_EQ(store::complete(m.db(), *batch, m.clock.now()).error().code, Code::canceled);
}

TEST_F(Queue, ARestartRecoversWhatADeadDaemonHadInWork) {
  take(chat.prompt("work"));
  take(chat.ran("make", "t1"));
  take(chat.stop());
  claim();
  EXPECT_EQ(statuses(), "proces proces");
  must(m.open());
  EXPECT_TRUE(m.log.has("queue recovered 2 messages"));
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status = 'processed'"), 2);
}

TEST_F(Queue, CleaningKeepsTheNewestAndWhatIsNotDone) {
  for (const char* id : {"t1", "t2", "t3", "t4"}) take(chat.ran("make", id));
  take(chat.stop());
  must(store::complete(m.db(), *claim(3), m.clock.now()));
  EXPECT_EQ(must(store::clean(m.db(), 2)), 1);
  EXPECT_EQ(m.rows("SELECT id, status FROM pending_messages ORDER BY id"),
            (Lines{"2|processed", "3|processed", "4|pending", "5|pending"}));
  EXPECT_EQ(must(store::clean(m.db(), 0)), 2);
  // The evidence of what was cleaned stays.
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence WHERE input_payload IS NOT NULL"), 4);
}

TEST_F(Queue, FalseZeroAndEmptyInputsAreKept) {
  take(chat.tool("Odd", "t1", Json(false), Json(0)));
  take(chat.tool("Odd", "t2", Json(""), Json::array()));
  const auto texts = [&](std::int64_t seq) { return must(store::kept_event(m.db(), seq)).value().texts; };
  EXPECT_EQ(texts(1).input, "false");
  EXPECT_EQ(texts(1).response, "0");
  EXPECT_EQ(texts(2).input, "\"\"");
  EXPECT_EQ(texts(2).response, "[]");
}

}  // namespace
}  // namespace cairn::test
