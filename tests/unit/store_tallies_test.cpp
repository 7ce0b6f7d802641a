// Counts that are kept by triggers: whatever happens to the rows, they are what counting gives.
#include <gtest/gtest.h>

#include <random>

#include "store/totals.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class Tallies : public testing::Test {
 protected:
  Tallies() { must(m.open()); }

  std::vector<std::string> kept() { return m.rows("SELECT * FROM tallies ORDER BY 1, 2, 3"); }
  void expect_counted(const char* after) {
    SCOPED_TRACE(after);
    const auto before = kept();
    must(store::count_again(m.db()));
    EXPECT_EQ(before, m.rows("SELECT * FROM tallies WHERE count <> 0 ORDER BY 1, 2, 3"));
  }

  void work(const std::string& session, const std::string& directory) {
    Chat chat;
    chat.session = session;
    chat.cwd = "/home/dev/code/" + directory;
    m.ask(chat.start());
    m.tell(chat.prompt("Make it faster"));
    m.tell(chat.wrote("a.cpp", session + "-1"));
    m.tell(chat.ran("make", session + "-2"));
    m.tell(chat.stop("It is faster."));
    m.clock.advance(std::chrono::hours(20));
    m.tell(chat.prompt("Go on"));
    m.tell(chat.ran("make test", session + "-3"));
    m.tell(chat.end());
  }

  Machine m;
};

TEST_F(Tallies, FollowWhatHappensToTheRows) {
  for (const char* session : {"s1", "s2", "s3"}) work(session, "one");
  for (const char* session : {"t1", "t2"}) work(session, "two");
  EXPECT_GT(kept().size(), 10u);
  expect_counted("sessions");
  must(m.run("sessions.summarize", Json::object({{"id", "s1"}})));
  expect_counted("a turn that was summarised again");
  must(m.run("projects.rename", Json::object({{"name", "two"}, {"new_name", "second"}})));
  expect_counted("a project that is being renamed");
  must(m.drain());
  expect_counted("a renamed project");
  EXPECT_EQ(m.number("SELECT count(*) FROM tallies WHERE project = 'two'"), 0);
  must(m.db().exec("UPDATE observations SET deleted_at = '2026-01-01' WHERE id % 2 = 0"));
  must(m.db().exec("UPDATE user_prompts SET deleted_at = '2026-01-01' WHERE id % 3 = 0"));
  must(m.db().exec("UPDATE sdk_sessions SET hidden = 1 WHERE content_session_id = 's2'"));
  must(m.db().exec("UPDATE sdk_sessions SET project = 'second' WHERE content_session_id = 's3'"));
  expect_counted("hidden and moved rows");
  must(m.db().exec("DELETE FROM sdk_sessions WHERE content_session_id IN ('s3', 't1')"));
  expect_counted("deleted sessions");
}

TEST_F(Tallies, CountARowThatWasNotInsertedNotAtAll) {
  work("s1", "one");
  must(
      m.db().exec("INSERT OR IGNORE INTO events(event_id, session_db_id, name, kind, outcome, tool_name, "
                  "created_at_epoch, taken_in_at_epoch) SELECT event_id, session_db_id, name, kind, outcome, "
                  "tool_name, 0, 0 FROM events"));
  must(
      m.db().exec("INSERT OR IGNORE INTO events(event_id, session_db_id, name, kind, outcome, tool_name, "
                  "created_at_epoch, taken_in_at_epoch) VALUES('new', 1, 'PostToolUse', 'tool', 'stored', "
                  "'Bash', 0, 0)"));
  expect_counted("ignored rows");
}

TEST_F(Tallies, AreWhatStatsShow) {
  work("s1", "one");
  const Json stats = must(m.run("stats", Json::object({{"project", "one"}})));
  EXPECT_EQ(stats["sessions"].as_int(), 1);
  EXPECT_EQ(stats["prompts"].as_int(), 2);
  EXPECT_EQ(stats["tools"].dump(), R"({"Bash":2,"Write":1})");
  EXPECT_EQ(stats["prompts_by_day"].members().size(), 2u);
}

}  // namespace
}  // namespace cairn::test
