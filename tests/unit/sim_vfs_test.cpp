#include "support/sim_vfs.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "store/migrate.h"
#include "store/sql.h"
#include "support/sim_disk.h"

namespace cairn::test {
namespace {

using store::Db;
using store::Transaction;

// A database on a disk of its own. Row n of `t` is written by the n-th transaction, with a checkpoint now and
// then.
struct Machine {
  SimDisk disk;
  SimVfs vfs{disk};
  std::optional<Db> db;

  Machine() { disk.provide_dir("/home/dev"); }

  Status open() {
    db.reset();
    // So few pages that a short run has checkpoints and a log that starts over.
    db = TRY(Db::open(
        {.path = "/home/dev/cairn.db", .vfs = vfs.name(), .exclusive = true, .autocheckpoint_pages = 12}));
    return db->exec(
        "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, filling BLOB);"
        "CREATE INDEX IF NOT EXISTS i ON t(filling)");
  }

  // One transaction with two rows, so that half of it can be detected.
  Status add() {
    Transaction transaction = TRY(Transaction::begin(*db));
    const std::int64_t id = TRY(db->integer("SELECT coalesce(max(id), 0) FROM t")).value();
    for (std::int64_t i = 1; i <= 2; ++i) {
      TRY(db->run("INSERT INTO t VALUES (?, ?)", id + i, std::string(300, static_cast<char>('a' + id % 26))));
    }
    return transaction.commit();
  }

  Result<std::int64_t> rows() { return TRY(db->integer("SELECT count(*) FROM t")).value(); }
};

// After a restart the database is undamaged and has every acknowledged transaction, no half one, and at most
// the one more that was under way.
void expect_sound(Machine& machine, std::int64_t acknowledged, const std::string& what) {
  const Status opened = machine.open();
  ASSERT_TRUE(opened.ok()) << what << ": " << opened.error().message;
  const Status checked = machine.db->integrity_check();
  ASSERT_TRUE(checked.ok()) << what << ": " << checked.error().message;
  const std::int64_t rows = machine.rows().value();
  EXPECT_TRUE(rows == 2 * acknowledged || rows == 2 * acknowledged + 2)
      << what << ": " << acknowledged << " acknowledged, " << rows << " rows";
}

TEST(SimVfs, CarriesAWalDatabase) {
  Machine machine;
  ASSERT_TRUE(machine.open().ok());
  ASSERT_TRUE(machine.add().ok());
  EXPECT_EQ(machine.db->text("PRAGMA journal_mode").value(), "wal");
  EXPECT_TRUE(machine.disk.stat("/home/dev/cairn.db-wal").ok());
  EXPECT_EQ(machine.disk.stat("/home/dev/cairn.db-shm").error().code, Code::not_found);
  machine.db.reset();
  EXPECT_EQ(machine.disk.stat("/home/dev/cairn.db-wal").error().code, Code::not_found);
  ASSERT_TRUE(machine.open().ok());
  EXPECT_EQ(machine.rows().value(), 2);
}

TEST(SimVfs, LetsOneConnectionIn) {
  Machine machine;
  ASSERT_TRUE(machine.open().ok());
  const Db::Options options{
      .path = "/home/dev/cairn.db", .vfs = machine.vfs.name(), .exclusive = true, .busy_timeout_ms = 0};
  EXPECT_EQ(Db::open(options).error().code, Code::busy);
  machine.disk.crash();
  EXPECT_TRUE(Db::open(options).ok()) << "a dead process holds no lock";
}

TEST(SimVfs, KeepsWhatWasCommittedThroughPowerCutsAnywhere) {
  std::int64_t cut_while_working = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Machine machine;
    ASSERT_TRUE(machine.open().ok());
    std::mt19937_64 random(seed);
    machine.disk.halt_at(1 + random() % 150);
    std::int64_t acknowledged = 0;
    while (acknowledged < 15 && machine.add().ok()) ++acknowledged;
    if (acknowledged < 15) ++cut_while_working;
    machine.disk.power_cut(random());
    expect_sound(machine, acknowledged, "seed " + std::to_string(seed));
  }
  EXPECT_GT(cut_while_working, 100);
}

TEST(SimVfs, LosesCommitsThatWereNotSynced) {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Machine machine;
    ASSERT_TRUE(machine.open().ok());
    ASSERT_TRUE(machine.db->exec("PRAGMA synchronous=OFF").ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(machine.add().ok());
    machine.disk.power_cut(seed);
    if (!machine.open().ok() || machine.rows().value() < 6) ++lost;
  }
  EXPECT_GT(lost, 0) << "this disk would not notice a missing sync";
}

TEST(SimVfs, KeepsNothingOfAnOpenTransaction) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Machine machine;
    ASSERT_TRUE(machine.open().ok());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(machine.add().ok());
    ASSERT_TRUE(machine.db->exec("PRAGMA cache_size=1").ok());
    {
      Transaction transaction = Transaction::begin(*machine.db).value();
      const std::uint64_t before = machine.disk.calls();
      ASSERT_TRUE(machine.db->run("UPDATE t SET filling = 'changed' || id || hex(zeroblob(200))").ok());
      ASSERT_GT(machine.disk.calls(), before) << "the cache must spill into the WAL";
      seed % 2 == 0 ? machine.disk.crash() : machine.disk.power_cut(seed);
    }
    ASSERT_TRUE(machine.open().ok());
    EXPECT_EQ(machine.db->integer("SELECT count(*) FROM t WHERE filling LIKE 'changed%'").value(), 0);
    EXPECT_EQ(machine.rows().value(), 40);
  }
}

TEST(SimVfs, SurvivesPowerCutsOneAfterAnother) {
  Machine machine;
  std::mt19937_64 random(42);
  std::int64_t rows = 0;
  for (int life = 0; life < 40; ++life) {
    machine.disk.power_cut(random());
    ASSERT_TRUE(machine.open().ok());
    ASSERT_TRUE(machine.db->integrity_check().ok());
    const std::int64_t found = machine.rows().value();
    ASSERT_TRUE(found == rows || found == rows + 2) << life;
    rows = found;
    machine.disk.halt_at(1 + random() % 60);
    while (machine.add().ok()) rows += 2;
  }
  EXPECT_GT(rows, 40);
}

TEST(SimVfs, StaysIntactWhenTheDiskIsFull) {
  for (std::uint64_t room = 0; room < 40'000; room += 1777) {
    Machine machine;
    ASSERT_TRUE(machine.open().ok());
    ASSERT_TRUE(machine.add().ok());
    machine.disk.set_capacity(machine.disk.used() + room);
    std::int64_t acknowledged = 1;
    Status last;
    while (acknowledged < 100 && (last = machine.add()).ok()) ++acknowledged;
    ASSERT_FALSE(last.ok());
    EXPECT_EQ(last.error().code, Code::full) << last.error().message;
    EXPECT_EQ(machine.rows().value(), 2 * acknowledged) << "reading goes on";

    machine.disk.set_capacity(1 << 30);
    ASSERT_TRUE(machine.add().ok()) << "room again: so does writing";
    ++acknowledged;
    machine.disk.power_cut(room);
    expect_sound(machine, acknowledged, "room " + std::to_string(room));
    EXPECT_EQ(machine.rows().value(), 2 * acknowledged);
  }
}

class SimVfsFault : public testing::TestWithParam<int> {};

// The k-th call fails once, work continues in the same process, and then the power fails.
TEST_P(SimVfsFault, AtAnyCallNeverHurtsWhatWasAcknowledged) {
  bool failed_once = true;
  for (std::uint64_t k = 1; failed_once; ++k) {
    Machine machine;
    ASSERT_TRUE(machine.open().ok());
    machine.disk.fail_at(k, GetParam(), SimDisk::Calls::all);
    const std::uint64_t last = machine.disk.calls(SimDisk::Calls::all) + k;
    std::int64_t acknowledged = 0;
    for (int i = 0; i < 9; ++i) {
      if (machine.add().ok()) ++acknowledged;
    }
    EXPECT_GE(acknowledged, 8) << "one fault stops one transaction at most, k " << k;
    failed_once = machine.disk.calls(SimDisk::Calls::all) >= last;
    machine.disk.power_cut(k);
    expect_sound(machine, acknowledged, "k " + std::to_string(k));
  }
}

INSTANTIATE_TEST_SUITE_P(Errors, SimVfsFault, testing::Values(EIO, ENOSPC, EROFS));

TEST(SimVfs, FinishesAMigrationAfterAPowerCutAtAnyCall) {
  const store::Migration migrations[] = {
      {1, "one", "CREATE TABLE a(x); INSERT INTO a VALUES (1)"},
      {2, "two", "CREATE TABLE b(x); INSERT INTO b SELECT x FROM a; INSERT INTO a VALUES (2)"},
  };
  bool interrupted = true;
  for (std::uint64_t k = 1; interrupted; ++k) {
    Machine machine;
    machine.disk.halt_at(k);
    const auto attempt = [&]() -> Status {
      TRY(machine.open());
      return migrate(*machine.db, migrations, WallTime());
    };
    interrupted = !attempt().ok();
    machine.disk.power_cut(k);
    const Status again = attempt();
    ASSERT_TRUE(again.ok()) << k << ": " << again.error().message;
    EXPECT_EQ(machine.db->integer("SELECT count(*) FROM a").value(), 2);
    EXPECT_EQ(machine.db->integer("SELECT count(*) FROM b").value(), 1);
    EXPECT_EQ(machine.db->integer("SELECT count(*) FROM schema_migrations").value(), 2);
    ASSERT_LT(k, 500u);
  }
}

}  // namespace
}  // namespace cairn::test
