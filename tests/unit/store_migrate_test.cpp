#include <gtest/gtest.h>

#include "store/migrate.h"
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

}  // namespace
}  // namespace cairn::store
