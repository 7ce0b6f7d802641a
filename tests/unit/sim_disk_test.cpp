#include "support/sim_disk.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "support/sim_clock.h"

namespace cairn::test {
namespace {

using os::Open;

constexpr int kSeeds = 100;

void put(SimDisk& disk, const std::string& path, std::string_view bytes, bool sync) {
  auto file = disk.open(path, Open::read_write).value();
  ASSERT_TRUE(file->write_at(0, bytes).ok());
  if (!sync) return;
  ASSERT_TRUE(file->sync().ok());
}

// The content, or "absent".
std::string get(SimDisk& disk, const std::string& path) {
  auto bytes = os::read_file(disk, path, 1 << 20);
  return bytes.ok() ? *bytes : "absent";
}

class SimDiskTest : public testing::Test {
 protected:
  SimDiskTest() { disk_.provide_dir("/home/dev"); }

  void write(const std::string& path, std::string_view bytes, bool sync = false) {
    put(disk_, path, bytes, sync);
  }
  // A file that was there long before.
  void put_and_synced(const std::string& path, std::string_view bytes) {
    write(path, bytes, true);
    ASSERT_TRUE(disk_.sync_dir("/home/dev").ok());
  }
  std::string read(const std::string& path) { return get(disk_, path); }

  SimClock clock_;
  SimDisk disk_{{.clock = &clock_}};
};

// Everything that `outcome` gives over many power cuts, each after the same `steps` on a fresh disk.
template <class Steps, class Outcome>
std::set<std::string> outcomes(SimDisk::Options options, Steps steps, Outcome outcome) {
  std::set<std::string> seen;
  for (int seed = 0; seed < kSeeds; ++seed) {
    SimDisk disk(options);
    disk.provide_dir("/d");
    disk.provide_dir("/e");
    steps(disk);
    disk.power_cut(static_cast<std::uint64_t>(seed));
    seen.insert(outcome(disk));
  }
  return seen;
}

using Seen = std::set<std::string>;

TEST_F(SimDiskTest, BehavesLikeADisk) {
  EXPECT_EQ(disk_.open("/home/dev/a", Open::read).error().code, Code::not_found);
  EXPECT_EQ(disk_.open("/nowhere/a", Open::read_write).error().code, Code::not_found);
  write("/home/dev/a", "hello");
  EXPECT_EQ(disk_.open("/home/dev/a", Open::create_new).error().code, Code::busy);
  auto file = disk_.open("/home/dev/a", Open::read_write).value();
  ASSERT_TRUE(file->write_at(8, "x").ok());
  EXPECT_EQ(read("/home/dev/a"), std::string("hello\0\0\0x", 9));
  ASSERT_TRUE(file->truncate(2).ok());
  EXPECT_EQ(read("/home/dev/a"), "he");
  char bytes[8];
  EXPECT_EQ(file->read_at(1, bytes, 8).value(), 1u);
  EXPECT_EQ(file->read_at(2, bytes, 8).value(), 0u);

  clock_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(disk_.make_dir("/home/dev/sub").ok());
  ASSERT_TRUE(disk_.make_dir("/home/dev/sub").ok());
  ASSERT_TRUE(disk_.rename("/home/dev/a", "/home/dev/sub/b").ok());
  EXPECT_EQ(disk_.list("/home/dev").value(), std::vector<std::string>{"sub"});
  EXPECT_EQ(disk_.list("/home/dev/sub").value(), std::vector<std::string>{"b"});
  EXPECT_EQ(disk_.stat("/home/dev/sub/b")->size, 2u);
  EXPECT_EQ(disk_.stat("/home/dev/sub")->modified_ns, clock_.wall_ns());
  EXPECT_TRUE(disk_.stat("/home/dev/sub")->is_dir);
  ASSERT_TRUE(disk_.remove("/home/dev/sub/b").ok());
  EXPECT_EQ(disk_.remove("/home/dev/sub/b").error().code, Code::not_found);
  EXPECT_EQ(file->size().value(), 2u) << "an open file outlives its name";
}

TEST_F(SimDiskTest, KeepsEverythingWhenOnlyTheProcessDies) {
  write("/home/dev/a", "unsynced");
  auto file = disk_.open("/home/dev/a", Open::read_write).value();
  disk_.crash();
  EXPECT_EQ(read("/home/dev/a"), "unsynced");
  EXPECT_FALSE(file->write_at(0, "ghost").ok());
  EXPECT_FALSE(file->sync().ok());
  EXPECT_EQ(read("/home/dev/a"), "unsynced");
}

TEST_F(SimDiskTest, KeepsWhatWasSyncedThroughAnyPowerCut) {
  const auto seen = outcomes(
      {},
      [](SimDisk& disk) {
        put(disk, "/d/a", "safe", true);
        EXPECT_TRUE(disk.sync_dir("/d").ok());
      },
      [](SimDisk& disk) { return get(disk, "/d/a"); });
  EXPECT_EQ(seen, Seen{"safe"});
}

TEST_F(SimDiskTest, MayLoseANameThatWasNotSynced) {
  const auto steps = [](SimDisk& disk) { put(disk, "/d/a", "safe", true); };
  const auto outcome = [](SimDisk& disk) { return get(disk, "/d/a"); };
  EXPECT_EQ(outcomes({}, steps, outcome), (Seen{"safe", "absent"}));
  EXPECT_EQ(outcomes({.names_durable_with_fsync = true}, steps, outcome), Seen{"safe"});
}

TEST_F(SimDiskTest, MayLoseKeepOrTearAWriteThatWasNotSynced) {
  const std::string old(1024, 'o');
  const std::string fresh(1024, 'n');
  const auto seen = outcomes(
      {},
      [&](SimDisk& disk) {
        put(disk, "/d/a", old, true);
        EXPECT_TRUE(disk.sync_dir("/d").ok());
        put(disk, "/d/a", fresh, false);
      },
      [](SimDisk& disk) { return get(disk, "/d/a"); });
  EXPECT_EQ(seen, (Seen{old, fresh, fresh.substr(512) + old.substr(512)}));
}

TEST_F(SimDiskTest, MayKeepALaterWriteAndLoseAnEarlierOne) {
  const auto seen = outcomes(
      {},
      [](SimDisk& disk) {
        put(disk, "/d/a", std::string(1024, '-'), true);
        EXPECT_TRUE(disk.sync_dir("/d").ok());
        auto file = disk.open("/d/a", Open::read_write).value();
        EXPECT_TRUE(file->write_at(0, "1").ok());
        EXPECT_TRUE(file->write_at(512, "2").ok());
      },
      [](SimDisk& disk) {
        const std::string bytes = get(disk, "/d/a");
        return std::string{bytes[0], bytes[512]};
      });
  EXPECT_EQ(seen, (Seen{"--", "1-", "-2", "12"}));
}

TEST_F(SimDiskTest, RenamesAsAWhole) {
  const auto before = [](SimDisk& disk) {
    put(disk, "/d/new", "old", true);
    put(disk, "/e/tmp", "fresh", true);
    EXPECT_TRUE(disk.sync_dir("/d").ok() && disk.sync_dir("/e").ok());
    EXPECT_TRUE(disk.rename("/e/tmp", "/d/new").ok());
  };
  const auto outcome = [](SimDisk& disk) { return get(disk, "/d/new") + " " + get(disk, "/e/tmp"); };
  EXPECT_EQ(outcomes({}, before, outcome), (Seen{"old fresh", "fresh absent"}));
  for (const std::string dir : {"/d", "/e"}) {
    const auto synced = [&](SimDisk& disk) {
      before(disk);
      EXPECT_TRUE(disk.sync_dir(dir).ok());
    };
    EXPECT_EQ(outcomes({}, synced, outcome), Seen{"fresh absent"}) << dir;
  }
}

TEST_F(SimDiskTest, MakesAFileOfAnotherDirectoryDurableWithItsRename) {
  const auto seen = outcomes(
      {},
      [](SimDisk& disk) {
        put(disk, "/e/tmp", "event", true);
        EXPECT_TRUE(disk.rename("/e/tmp", "/d/new").ok());
        EXPECT_TRUE(disk.sync_dir("/d").ok());
      },
      [](SimDisk& disk) { return get(disk, "/d/new") + " " + get(disk, "/e/tmp"); });
  EXPECT_EQ(seen, Seen{"event absent"});
}

TEST_F(SimDiskTest, MayBringBackARemovedFile) {
  const auto seen = outcomes(
      {},
      [](SimDisk& disk) {
        put(disk, "/d/a", "back", true);
        EXPECT_TRUE(disk.sync_dir("/d").ok());
        EXPECT_TRUE(disk.remove("/d/a").ok());
      },
      [](SimDisk& disk) { return get(disk, "/d/a"); });
  EXPECT_EQ(seen, (Seen{"back", "absent"}));
}

TEST_F(SimDiskTest, LosesWhatStandsInALostDirectory) {
  const auto seen = outcomes(
      {},
      [](SimDisk& disk) {
        EXPECT_TRUE(disk.make_dir("/d/sub").ok());
        put(disk, "/d/sub/a", "inside", true);
        EXPECT_TRUE(disk.sync_dir("/d/sub").ok());
      },
      [](SimDisk& disk) { return get(disk, "/d/sub/a"); });
  EXPECT_EQ(seen, (Seen{"inside", "absent"}));
}

TEST_F(SimDiskTest, ReplacesAFileAtomicallyAtEveryPointOfAPowerCut) {
  Seen after_success;
  for (std::uint64_t k = 1; k < 8; ++k) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      SimDisk disk;
      disk.provide_dir("/d");
      ASSERT_TRUE(os::replace_file(disk, "/d/a", "old").ok());
      disk.halt_at(k);
      const bool done = os::replace_file(disk, "/d/a", "new").ok();
      disk.power_cut(seed);
      const std::string found = get(disk, "/d/a");
      EXPECT_TRUE(found == "new" || (!done && found == "old")) << k << " " << seed << " " << found;
      if (done) after_success.insert(found);
    }
  }
  EXPECT_EQ(after_success, Seen{"new"}) << "the last k must lie beyond the work";
}

TEST_F(SimDiskTest, FailsTheCallThatWasChosen) {
  put_and_synced("/home/dev/a", "old");
  auto file = disk_.open("/home/dev/a", Open::read_write).value();
  disk_.fail_at(2, EROFS);
  EXPECT_TRUE(file->write_at(0, "1").ok());
  EXPECT_TRUE(file->size().ok()) << "reading is not counted";
  EXPECT_EQ(file->write_at(0, "2").error().code, Code::denied);
  EXPECT_TRUE(file->write_at(0, "3").ok());

  disk_.fail_from(1, ENOSPC);
  EXPECT_EQ(file->write_at(0, "45").error().code, Code::full);
  EXPECT_EQ(disk_.remove("/home/dev/a").error().code, Code::full);
  EXPECT_EQ(read("/home/dev/a"), "4ld") << "half of the write was made";
  disk_.clear_faults();
  EXPECT_TRUE(file->write_at(0, "6").ok());

  disk_.fail_at(1, EMFILE, SimDisk::Calls::all);
  EXPECT_FALSE(disk_.open("/home/dev/a", Open::read).ok());
}

TEST_F(SimDiskTest, CountsCalls) {
  const auto changing = disk_.calls();
  const auto all = disk_.calls(SimDisk::Calls::all);
  write("/home/dev/a", "x", true);
  EXPECT_EQ(disk_.calls() - changing, 3u);
  read("/home/dev/a");
  EXPECT_EQ(disk_.calls() - changing, 3u);
  EXPECT_EQ(disk_.calls(SimDisk::Calls::all) - all, 6u);
}

TEST_F(SimDiskTest, LosesForGoodWhatAFailedSyncLost) {
  put_and_synced("/home/dev/a", "old");
  auto file = disk_.open("/home/dev/a", Open::read_write).value();
  ASSERT_TRUE(file->write_at(0, "new").ok());
  disk_.fail_at(1, EIO);
  ASSERT_FALSE(file->sync().ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(read("/home/dev/a"), "new");
  disk_.power_cut(1);
  EXPECT_EQ(read("/home/dev/a"), "old");
}

TEST_F(SimDiskTest, IsFullAtItsCapacity) {
  write("/home/dev/a", "12345");
  disk_.set_capacity(8);
  auto file = disk_.open("/home/dev/b", Open::read_write).value();
  EXPECT_EQ(file->write_at(0, "67890").error().code, Code::full);
  EXPECT_EQ(read("/home/dev/b"), "678");
  EXPECT_TRUE(file->write_at(0, "abc").ok()) << "overwriting needs no room";
  ASSERT_TRUE(disk_.remove("/home/dev/a").ok());
  EXPECT_TRUE(file->write_at(0, "67890").ok());
  EXPECT_EQ(disk_.used(), 5u);
}

TEST_F(SimDiskTest, StopsTheProcessAtANamedCall) {
  put_and_synced("/home/dev/a", "old");
  disk_.on_call([&](std::string_view op, std::string_view path) {
    if (op == "rename" && path == "/home/dev/a") disk_.halt();
  });
  EXPECT_FALSE(os::replace_file(disk_, "/home/dev/a", "new").ok());
  disk_.on_call(nullptr);
  disk_.crash();
  EXPECT_EQ(read("/home/dev/a"), "old");
  EXPECT_EQ(read("/home/dev/a.new"), "new") << "a dead process cleans nothing up";
}

TEST_F(SimDiskTest, DoesTheSameForTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    SimDisk disk;
    disk.provide_dir("/d");
    for (int i = 0; i < 20; ++i) put(disk, "/d/" + std::to_string(i), std::string(2000, 'x'), i % 2 == 0);
    disk.power_cut(seed);
    std::string all;
    const std::vector<std::string> names = disk.list("/d").value();
    for (const std::string& name : names) all += name + get(disk, "/d/" + name);
    return all;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace cairn::test
