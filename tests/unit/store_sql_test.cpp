#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/ids.h"
#include "store/sql.h"
#include "support/temp_dir.h"

namespace cairn::store {
namespace {

class Sql : public testing::Test {
 protected:
  Sql() : db_(open()) {
    EXPECT_TRUE(db_.exec("CREATE TABLE t(a, b); CREATE TABLE child(t INTEGER REFERENCES parent(id));"
                         "CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
                    .ok());
  }

  Db open(Db::Mode mode = Db::Mode::read_write) {
    auto db = Db::open({.path = path(), .mode = mode, .busy_timeout_ms = 0});
    EXPECT_TRUE(db.ok()) << db.error().message;
    return std::move(db).value();
  }
  std::string path() const { return dir_ / "cairn.db"; }
  std::int64_t count() { return db_.integer("SELECT count(*) FROM t").value().value(); }

  test::TempDir dir_;
  Db db_;
};

int mode_of(const std::string& path) {
  struct stat st {};
  EXPECT_EQ(stat(path.c_str(), &st), 0) << path;
  return st.st_mode & 0777;
}

TEST_F(Sql, KeepsTheFilesPrivate) {
  EXPECT_EQ(mode_of(path()), 0600);
  EXPECT_EQ(mode_of(path() + "-wal"), 0600);
  EXPECT_EQ(mode_of(path() + "-shm"), 0600);
}

TEST_F(Sql, SetsEveryPragmaThatTheStoreReliesOn) {
  EXPECT_EQ(db_.text("PRAGMA journal_mode").value(), "wal");
  EXPECT_EQ(db_.integer("PRAGMA synchronous").value(), 2);
  EXPECT_EQ(db_.integer("PRAGMA foreign_keys").value(), 1);
  EXPECT_EQ(db_.integer("PRAGMA secure_delete").value(), 1);
  EXPECT_EQ(db_.integer("PRAGMA temp_store").value(), 2);
  EXPECT_EQ(db_.integer("PRAGMA trusted_schema").value(), 0);
  EXPECT_EQ(db_.integer("PRAGMA wal_autocheckpoint").value(), 1000);
}

TEST_F(Sql, GivesBackWhatWasBound) {
  const std::string text("na\u00efve \u65e5\u672c\u8a9e \xF0\x9F\xAA\xA8 with \0 inside", 36);
  const std::string bytes("\x00\xff\x80", 3);
  Stmt row = db_.query("SELECT ?, ?, ?, ?, ?, ?, ?", std::int64_t{1} << 62, true, 2.5, text, Blob{bytes},
                       SessionId{7}, "literal")
                 .value();
  ASSERT_TRUE(row.step().value());
  EXPECT_EQ(row.integer(0), std::int64_t{1} << 62);
  EXPECT_EQ(row.integer(1), 1);
  EXPECT_EQ(row.real(2), 2.5);
  EXPECT_EQ(row.text(3), text);
  EXPECT_EQ(row.blob(4), bytes);
  EXPECT_EQ(row.integer(5), 7);
  EXPECT_EQ(row.text(6), "literal");
  EXPECT_FALSE(row.step().value());
  EXPECT_FALSE(row.step().value());
}

TEST_F(Sql, TellsNullFromEmpty) {
  const std::optional<std::string> none;
  const std::optional<std::string> some = "x";
  Stmt row =
      db_.query("SELECT ?, ?, ?, ?, ?, ?", nullptr, none, some, "", std::string_view(), Blob{}).value();
  ASSERT_TRUE(row.step().value());
  EXPECT_TRUE(row.is_null(0));
  EXPECT_EQ(row.optional_text(1), std::nullopt);
  EXPECT_EQ(row.optional_integer(1), std::nullopt);
  EXPECT_EQ(row.text(1), "");
  EXPECT_EQ(row.optional_text(2), "x");
  EXPECT_EQ(row.optional_text(3), "");
  EXPECT_EQ(row.optional_text(4), "");
  EXPECT_FALSE(row.is_null(5));
  EXPECT_EQ(db_.text("SELECT typeof(?)", "x").value(), "text");
  EXPECT_EQ(db_.text("SELECT typeof(?)", Blob{"x"}).value(), "blob");
}

TEST_F(Sql, AnswersNothingForNoRowAndForNull) {
  EXPECT_EQ(db_.integer("SELECT a FROM t").value(), std::nullopt);
  EXPECT_EQ(db_.text("SELECT NULL").value(), std::nullopt);
}

TEST_F(Sql, UsesAStatementAgain) {
  const auto prepared = [&] {
    int n = 0;
    for (sqlite3_stmt* s = nullptr; (s = sqlite3_next_stmt(db_.raw(), s)) != nullptr;) ++n;
    return n;
  };
  ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (?)", 1).ok());
  const int before = prepared();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (?)", i).ok());
  EXPECT_EQ(prepared(), before);
  EXPECT_EQ(count(), 51);
}

TEST_F(Sql, ForgetsTheBindingsOfTheLastUse) {
  ASSERT_TRUE(db_.run("INSERT INTO t(a, b) VALUES (?, ?)", 1, 2).ok());
  Stmt insert = db_.prepare("INSERT INTO t(a, b) VALUES (?, ?)").value();
  ASSERT_TRUE(insert.bind(1, 3).run().ok());
  EXPECT_EQ(db_.integer("SELECT count(*) FROM t WHERE a = 3 AND b IS NULL").value(), 1);
}

TEST_F(Sql, LetsTheSameTextRunInsideItself) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (?)", i).ok());
  int pairs = 0;
  Stmt outer = db_.query("SELECT a FROM t").value();
  while (outer.step().value()) {
    Stmt inner = db_.query("SELECT a FROM t").value();
    while (inner.step().value()) ++pairs;
  }
  EXPECT_EQ(pairs, 9);
}

TEST_F(Sql, DoesNotKeepGeneratedStatementsForEver) {
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(db_.integer("SELECT " + std::to_string(i)).ok());
  int idle = 0;
  for (sqlite3_stmt* s = nullptr; (s = sqlite3_next_stmt(db_.raw(), s)) != nullptr;) ++idle;
  EXPECT_LE(idle, 300);
}

TEST_F(Sql, RunsAStatementManyTimes) {
  Stmt insert = db_.prepare("INSERT INTO parent(name) VALUES (?)").value();
  ASSERT_TRUE(insert.bind(1, "a").run().ok());
  EXPECT_EQ(insert.bind(1, "a").run().error().code, Code::invalid);
  insert.reset();
  ASSERT_TRUE(insert.bind(1, "b").run().ok());
  EXPECT_EQ(db_.last_insert_rowid(), 2);
  ASSERT_TRUE(db_.run("UPDATE parent SET name = name || 'x'").ok());
  EXPECT_EQ(db_.changes(), 2);
}

TEST_F(Sql, NamesWhatFailed) {
  const auto syntax = db_.prepare("SELEC 1");
  EXPECT_EQ(syntax.error().code, Code::internal);
  EXPECT_NE(syntax.error().message.find("SELEC 1: near"), std::string::npos) << syntax.error().message;
  EXPECT_EQ(db_.query("SELECT ?, ?", 1).error().code, Code::internal);
  EXPECT_EQ(db_.query("SELECT ?", 1, 2).error().code, Code::internal);
  EXPECT_EQ(db_.run("INSERT INTO child VALUES (99)").error().code, Code::invalid);
}

TEST_F(Sql, RollsBackWhatWasNotCommitted) {
  {
    Transaction transaction = Transaction::begin(db_).value();
    ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (1)").ok());
    EXPECT_TRUE(db_.in_transaction());
  }
  EXPECT_FALSE(db_.in_transaction());
  EXPECT_EQ(count(), 0);
  {
    Transaction transaction = Transaction::begin(db_).value();
    ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (1)").ok());
    ASSERT_TRUE(transaction.commit().ok());
  }
  EXPECT_EQ(count(), 1);
}

TEST_F(Sql, UndoesASavepointAlone) {
  Transaction transaction = Transaction::begin(db_).value();
  ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (1)").ok());
  {
    Savepoint outer = Savepoint::begin(db_).value();
    ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (2)").ok());
    {
      Savepoint inner = Savepoint::begin(db_).value();
      ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (3)").ok());
    }
    EXPECT_EQ(count(), 2);
    ASSERT_TRUE(outer.commit().ok());
  }
  {
    Savepoint undone = Savepoint::begin(db_).value();
    ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (4)").ok());
  }
  ASSERT_TRUE(transaction.commit().ok());
  EXPECT_EQ(db_.integer("SELECT sum(a) FROM t").value(), 3);
}

TEST_F(Sql, IsBusyWhileAnotherConnectionWrites) {
  Db other = open();
  Transaction transaction = Transaction::begin(other).value();
  EXPECT_EQ(Transaction::begin(db_).error().code, Code::busy);
}

TEST_F(Sql, ReadsBesideAWriterAndCannotWrite) {
  ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (1)").ok());
  Db reader = open(Db::Mode::read_only);
  Transaction transaction = Transaction::begin(db_).value();
  ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (2)").ok());
  EXPECT_EQ(reader.integer("SELECT count(*) FROM t").value(), 1);
  ASSERT_TRUE(transaction.commit().ok());
  EXPECT_EQ(reader.integer("SELECT count(*) FROM t").value(), 2);
  EXPECT_EQ(reader.run("INSERT INTO t(a) VALUES (3)").error().code, Code::denied);
}

TEST_F(Sql, EmptiesTheWalWhenAskedTo) {
  ASSERT_TRUE(db_.run("INSERT INTO t(a) VALUES (1)").ok());
  struct stat st {};
  ASSERT_EQ(stat((path() + "-wal").c_str(), &st), 0);
  ASSERT_GT(st.st_size, 0);
  ASSERT_TRUE(db_.checkpoint(true).ok());
  ASSERT_EQ(stat((path() + "-wal").c_str(), &st), 0);
  EXPECT_EQ(st.st_size, 0);
}

TEST_F(Sql, AStatementInTheCacheIsNotPreparedAgainWhenItIsBound) {
  for (const char* sql : {"SELECT a FROM t ORDER BY b LIMIT ?", "SELECT a FROM t WHERE b LIKE ?"})
    for (int i = 1; i <= 3; ++i) ASSERT_TRUE(db_.integer(sql, std::to_string(i)).ok());
  for (sqlite3_stmt* stmt = nullptr; (stmt = sqlite3_next_stmt(db_.raw(), stmt)) != nullptr;)
    EXPECT_EQ(sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_REPREPARE, 0), 0) << sqlite3_sql(stmt);
}

TEST(SqlOpen, TellsAMissingFileFromAForeignOne) {
  test::TempDir dir;
  const auto missing = Db::open({.path = dir / "none.db", .mode = Db::Mode::read_only});
  EXPECT_EQ(missing.error().code, Code::not_found) << missing.error().message;
  const auto no_dir = Db::open({.path = dir / "none/cairn.db"});
  EXPECT_EQ(no_dir.error().code, Code::not_found) << no_dir.error().message;

  test::write_file(dir / "text.db", std::string(4096, 'x'));
  EXPECT_EQ(Db::open({.path = dir / "text.db"}).error().code, Code::corrupt);
  EXPECT_EQ(Db::open({.path = dir / "text.db", .mode = Db::Mode::read_only}).error().code, Code::corrupt);
  EXPECT_EQ(test::read_text(dir / "text.db"), std::string(4096, 'x'));
}

TEST(SqlOpen, FindsDamage) {
  test::TempDir dir;
  {
    Db db = Db::open({.path = dir / "cairn.db"}).value();
    ASSERT_TRUE(db.exec("CREATE TABLE t(a)").ok());
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(db.run("INSERT INTO t VALUES (?)", std::string(100, 'x')).ok());
    EXPECT_TRUE(db.integrity_check().ok());
  }
  std::string bytes = test::read_text(dir / "cairn.db");
  ASSERT_GT(bytes.size(), 5u * 4096);
  bytes.replace(3 * 4096, 4096, std::string(4096, '\x5a'));
  test::write_file(dir / "cairn.db", bytes);
  Db db = Db::open({.path = dir / "cairn.db"}).value();
  EXPECT_EQ(db.integrity_check().error().code, Code::corrupt);
}

}  // namespace
}  // namespace cairn::store
