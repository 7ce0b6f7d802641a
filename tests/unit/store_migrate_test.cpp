#include <gtest/gtest.h>

#include "store/evidence.h"
#include "store/migrate.h"
#include "store/schema.h"
#include "support/temp_dir.h"

namespace cairn::store {
namespace {

const WallTime kNow = from_epoch_ms(1'790'000'000'000);
const Migration kFirst{1, "first", "CREATE TABLE a(x); INSERT INTO a VALUES (1)"};
const Migration kSecond{2, "second", "ALTER TABLE a ADD COLUMN y; CREATE TABLE b(x)"};

class Migrate : public testing::Test {
 protected:
  Status run(std::initializer_list<Migration> migrations) {
    return migrate(db_, {migrations.begin(), migrations.end()}, kNow);
  }
  std::int64_t number(std::string_view sql) { return db_.integer(sql).value().value_or(-1); }

  test::TempDir dir_;
  Db db_ = Db::open({.path = dir_ / "cairn.db"}).value();
};

TEST_F(Migrate, AppliesEachOnceAndInOrder) {
  ASSERT_TRUE(run({kFirst}).ok());
  ASSERT_TRUE(run({kFirst, kSecond}).ok());
  ASSERT_TRUE(run({kFirst, kSecond}).ok());
  EXPECT_EQ(number("SELECT count(*) FROM a"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM b"), 0);
  EXPECT_EQ(
      db_.text("SELECT group_concat(version || name || applied_at, ' ') FROM schema_migrations").value(),
      "1first2026-09-21T14:13:20.000Z 2second2026-09-21T14:13:20.000Z");
}

TEST_F(Migrate, LeavesNothingOfOneThatFails) {
  const Migration broken{2, "broken", "CREATE TABLE b(x); INSERT INTO b VALUES (1); CREATE TABLE a(x)"};
  const Status failed = run({kFirst, broken});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("2 (broken)"), std::string::npos) << failed.error().message;
  EXPECT_EQ(number("SELECT max(version) FROM schema_migrations"), 1);
  EXPECT_FALSE(db_.prepare("SELECT * FROM b").ok());
  EXPECT_TRUE(run({kFirst, kSecond}).ok());
}

TEST_F(Migrate, NoticesThatAnAppliedOneWasChanged) {
  ASSERT_TRUE(run({kFirst}).ok());
  Migration changed = kFirst;
  changed.sql = "CREATE TABLE a(x, y)";
  EXPECT_EQ(run({changed, kSecond}).error().code, Code::corrupt);
  EXPECT_FALSE(db_.prepare("SELECT * FROM b").ok());
}

TEST_F(Migrate, RefusesADatabaseFromTheFutureAndSaysSo) {
  ASSERT_TRUE(run({kFirst, kSecond}).ok());
  const Status refused = run({kFirst});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_NE(refused.error().message.find("2 (second)"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("install the newer cairn"), std::string::npos);
}

// A queue of version 0.1 has the texts in its rows.
TEST_F(Migrate, MovesTheTextsOfTheQueueToTheEvidence) {
  const auto all = schema();
  const auto newer = std::find_if(all.begin(), all.end(), [](const Migration& m) { return m.version > 53; });
  ASSERT_TRUE(migrate(db_, all.first(static_cast<std::size_t>(newer - all.begin())), kNow).ok());
  const std::string large(5000, 'x');
  ASSERT_TRUE(
      db_.exec("INSERT INTO projects(id, uuid, key, name, root, created_at, created_at_epoch) VALUES(1, 'p', "
               "'/p', "
               "'p', '/p', '', 0); INSERT INTO sdk_sessions(id, uuid, platform, content_session_id, project, "
               "started_at, started_at_epoch, last_event_at_epoch) VALUES(7, 's', 'h', 'c', 'p', '', 0, 0)")
          .ok());
  for (int seq = 1; seq <= 3; ++seq) {
    ASSERT_TRUE(
        db_.run("INSERT INTO events(seq, event_id, session_db_id, name, kind, outcome, prompt_number, "
                "created_at_epoch, taken_in_at_epoch) VALUES(?1, 'e' || ?1, 7, 'n', 'tool', 'stored', 1, 0, "
                "0)",
                seq)
            .ok());
    ASSERT_TRUE(
        db_.run("INSERT INTO pending_messages(event_seq, session_db_id, content_session_id, message_type, "
                "tool_input, tool_response, status, completed_at_epoch, created_at_epoch) VALUES(?, 7, 'c', "
                "'observation', '{\"same\":1}', ?, ?, ?, 5)",
                seq, seq == 2 ? std::optional<std::string>() : large, seq == 3 ? "failed" : "pending",
                seq == 3 ? std::optional<int>(9) : std::nullopt)
            .ok());
  }
  ASSERT_TRUE(migrate(db_, all, kNow).ok());
  for (int seq = 1; seq <= 3; ++seq) {
    const auto kept = kept_event(db_, seq).value();
    ASSERT_TRUE(kept) << seq;
    EXPECT_EQ(kept->texts.input, "{\"same\":1}") << seq;
    EXPECT_EQ(kept->texts.response, seq == 2 ? std::nullopt : std::optional(large)) << seq;
  }
  EXPECT_EQ(number("SELECT count(*) FROM payloads"), 2);  // equal texts once
  EXPECT_EQ(
      number("SELECT count(*) FROM pending_messages WHERE tool_input IS NOT NULL OR tool_response IS NOT "
             "NULL"),
      0);
}

// The texts of these migrations cannot be run: the whole one is used instead.
const Migration kSkipped{1, "skipped", "no SQL"};
const Migration kWhole{2, "whole", "no SQL either",
                       "CREATE TABLE a(x, y); CREATE TABLE b(x); INSERT INTO b VALUES (7)"};
const Migration kThird{3, "third", "ALTER TABLE b ADD COLUMN z"};

TEST_F(Migrate, CreatesAnEmptyDatabaseFromTheLastWholeTextAndGoesOnFromThere) {
  ASSERT_TRUE(run({kSkipped, kWhole, kThird}).ok());
  EXPECT_EQ(db_.text("SELECT group_concat(version || name, ' ') FROM schema_migrations").value(),
            "1skipped 2whole 3third");
  EXPECT_EQ(number("SELECT count(*) FROM b WHERE x = 7 AND z IS NULL"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM a"), 0);
  ASSERT_TRUE(run({kSkipped, kWhole, kThird}).ok());
}

TEST_F(Migrate, LeavesNothingOfAWholeTextThatFails) {
  Migration broken = kWhole;
  broken.whole = "CREATE TABLE a(x); CREATE TABLE a(x)";
  ASSERT_FALSE(run({kSkipped, broken}).ok());
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_schema"), 0);
  EXPECT_TRUE(run({kSkipped, kWhole}).ok());
}

TEST_F(Migrate, UsesNoWholeTextForADatabaseThatHasTables) {
  ASSERT_TRUE(run({kFirst}).ok());
  Migration second = kSecond;
  second.whole = "no SQL";
  ASSERT_TRUE(run({kFirst, second}).ok());
  EXPECT_EQ(number("SELECT count(*) FROM a WHERE x = 1 AND y IS NULL"), 1);
}

}  // namespace
}  // namespace cairn::store
