// How long the texts of events are kept, and that a wrong clock cannot remove them.
#include <gtest/gtest.h>

#include "store/evidence.h"
#include "store/retention.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

class RetentionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    must(m.open());
    chat.session = "aaaa";
  }

  // A turn of `tools` tool calls, distilled; each leaves one piece of evidence beside those of prompt and
  // stop.
  void turn(int tools, const std::string& mark) {
    m.tell(chat.prompt("do " + mark));
    for (int i = 0; i < tools; ++i) {
      const std::string use = mark + std::to_string(i);
      m.tell(chat.ran("echo " + use, use));
    }
    m.tell(chat.stop());
  }
  std::int64_t kept() { return m.number("SELECT count(*) FROM evidence"); }
  void minute() {
    m.clock.advance(1min);
    must(m.engine->tick());
    must(m.drain());
  }

  Machine m;
  Chat chat;
};

TEST_F(RetentionTest, TextsGoAfterTheirDaysAndWhatWasMadeOfThemStays) {
  turn(3, "old");
  const std::int64_t events = m.number("SELECT count(*) FROM events"), old = kept();
  ASSERT_GT(old, 0);
  m.clock.advance(50 * 24h);
  turn(2, "new");
  const std::int64_t all = kept();
  m.clock.advance(41 * 24h);
  minute();
  EXPECT_EQ(kept(), all - old);
  EXPECT_GT(m.number("SELECT count(*) FROM events"), events);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2);
  EXPECT_EQ(
      m.number(
          "SELECT count(*) FROM payloads WHERE id NOT IN (SELECT input_payload FROM evidence WHERE "
          "input_payload IS NOT NULL UNION SELECT response_payload FROM evidence WHERE response_payload IS "
          "NOT NULL UNION SELECT extra_payload FROM evidence WHERE extra_payload IS NOT NULL)"),
      0);
}

TEST_F(RetentionTest, ZeroDaysKeepsThemForEver) {
  m.put_file(m.home.config_file, "[evidence]\nkeep_days = 0\n");
  turn(2, "old");
  const std::int64_t all = kept();
  m.clock.advance(4000 * 24h);
  minute();
  minute();
  EXPECT_EQ(kept(), all);
}

TEST_F(RetentionTest, AClockThatJumpsToTheFutureTakesAtMostADaysTextsAnHour) {
  for (int day = 0; day < 30; ++day) {
    turn(1, "day" + std::to_string(day));
    m.clock.advance(24h);
    must(m.engine->tick());
  }
  const std::int64_t all = kept();
  m.clock.set_wall(m.clock.now() + 20 * 365 * 24h);
  minute();
  EXPECT_EQ(kept(), all);
  // The expiry limit was 60 days before the first event: it needs 60 hours to reach it, then removes one
  // day's texts each hour.
  for (int i = 0; i < 64; ++i) {
    m.clock.advance(1h);
    must(m.engine->tick());
    must(m.drain());
  }
  EXPECT_LT(kept(), all);
  EXPECT_GE(kept(), all - 6 * all / 30);
  m.clock.set_wall(m.clock.now() - 20 * 365 * 24h);
  const std::int64_t left = kept();
  for (int i = 0; i < 60; ++i) minute();
  EXPECT_EQ(kept(), left);
}

TEST_F(RetentionTest, WhatDoesNotFitGoesOldestFirstAndOnlyAsMuchAsNeeded) {
  m.tell(chat.prompt("add a parser"));
  m.tell(chat.wrote("parser.c", "w"));
  m.tell(chat.stop("Decision: we use recursive descent, because the grammar is small."));
  for (int i = 0; i < 60; ++i) {
    m.tell(chat.prompt("store " + std::to_string(i)));
    std::string noise;  // does not compress
    for (std::uint64_t x = i + 1, n = 0; n < 40'000; ++n) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      noise.push_back(static_cast<char>('!' + (x >> 33) % 90));
    }
    m.tell(chat.tool("Bash", "n" + std::to_string(i), Json::object({{"command", "cat noise"}}),
                     Json::object({{"stdout", noise}})));
    m.tell(chat.stop());
  }
  const auto used = [&] {
    return (m.number("PRAGMA page_count") - m.number("PRAGMA freelist_count")) * m.number("PRAGMA page_size");
  };
  const std::int64_t limit = used() / 2, last = m.number("SELECT max(event_seq) FROM evidence");
  const std::int64_t observations = m.number("SELECT count(*) FROM observations");
  EXPECT_GT(observations, 0);
  const store::Retention retention{0, limit};
  for (int pieces = 0; must(store::expire_evidence(m.db(), retention, 5)) > 0; ++pieces)
    ASSERT_LT(pieces, 1000);
  EXPECT_LE(used(), limit);
  EXPECT_GT(used(), limit * 8 / 10);
  EXPECT_EQ(m.number("SELECT max(event_seq) FROM evidence"), last);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 61);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations"), observations);
  // The engine takes the limit from the settings.
  const std::int64_t left = kept();
  m.put_file(m.home.config_file, "[store]\nmax_gb = 0.0005\n");
  minute();
  EXPECT_LT(kept(), left);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 61);
}

TEST_F(RetentionTest, ATurnWhoseTextsExpiredIsNotDistilledAgain) {
  turn(2, "old");
  const std::string before = m.text("SELECT summary_text FROM session_summaries");
  const store::Retention nothing_fits{0, 1};
  while (must(store::expire_evidence(m.db(), nothing_fits, 100)) > 0) {
  }
  m.tell(chat.ran("echo late", "late"));
  EXPECT_EQ(m.text("SELECT summary_text FROM session_summaries"), before);
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE tool_use_id = 'late' AND outcome = 'stored'"), 1);
}

TEST_F(RetentionTest, TheOldestGoFirstAlsoWhenTheyWereStoredLast) {
  turn(2, "lived");
  turn(2, "imported");
  // The second turn happened long before the first.
  must(
      m.db().exec("UPDATE evidence SET created_at_epoch = created_at_epoch - 1000000000 WHERE event_seq IN "
                  "(SELECT seq FROM events WHERE prompt_number = 2)"));
  const std::int64_t imported =
      m.number("SELECT count(*) FROM evidence JOIN events ON seq = event_seq WHERE prompt_number = 2");
  ASSERT_GT(imported, 0);
  EXPECT_EQ(must(store::expire_evidence(m.db(), {0, 1}, imported)), imported);
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence JOIN events ON seq = event_seq WHERE prompt_number = 2"),
            0);
  EXPECT_TRUE(must(store::has_expired(m.db(), SessionId{1}, 2)));
  EXPECT_FALSE(must(store::has_expired(m.db(), SessionId{1}, 1)));
}

TEST_F(RetentionTest, WhatWaitsInTheQueueIsNeverTouched) {
  m.tell(chat.prompt("a turn that stays open"));
  m.tell(chat.ran("make", "open"));
  const store::Retention nothing_fits{0, 1};
  while (must(store::expire_evidence(m.db(), nothing_fits, 100)) > 0) {
  }
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages JOIN evidence USING (event_seq) WHERE "
                     "input_payload IS NOT NULL"),
            1);
}

TEST_F(RetentionTest, ATextThatOccurredAgainStaysAsLongAsTheLast) {
  turn(1, "same");
  m.clock.advance(80 * 24h);
  m.tell(chat.prompt("again"));
  m.tell(chat.ran("echo same0", "another-use"));
  m.tell(chat.stop());
  m.clock.advance(20 * 24h);
  minute();
  const std::int64_t seq = m.number("SELECT seq FROM events WHERE tool_use_id = 'another-use'");
  const auto event = must(store::kept_event(m.db(), seq));
  ASSERT_TRUE(event && event->texts.input);
  EXPECT_NE(event->texts.input->find("echo same0"), std::string::npos);
}

}  // namespace
}  // namespace cairn::test
