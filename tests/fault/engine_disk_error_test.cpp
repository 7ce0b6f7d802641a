// A disk that is full or fails for some time: intake reports it, loses nothing, and continues by itself.
#include <gtest/gtest.h>

#include <cerrno>

#include "fault/story.h"

namespace cairn::test {
namespace {

void deliver_turn(Machine& m) {
  Chat chat;
  m.deliver(chat.start());
  m.deliver(chat.prompt("work"));
  m.deliver(chat.ran("make", "t1"));
  m.deliver(chat.wrote("a.txt", "t2"));
  m.deliver(chat.stop("Done."));
}

void expect_all_taken_in(Machine& m) {
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'stored'"), 5);
  EXPECT_EQ(m.number("SELECT count(*) FROM events"), 5);
  EXPECT_EQ(m.rows("SELECT request, completed <> '' FROM session_summaries"), (Lines{"work|1"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status <> 'processed'"), 0);
  for (const char* box : {"new", "cur", "bad"}) EXPECT_EQ(m.files(box), Lines{}) << box;
  EXPECT_EQ(must(m.run("status"))["ledger"]["gap"].as_int(), 0);
  EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"}));
}

std::uint64_t calls_of_a_turn(SimDisk::Calls which) {
  Machine m;
  must(m.open());
  deliver_turn(m);
  const std::uint64_t before = m.disk.calls(which);
  must(m.drain());
  return m.disk.calls(which) - before;
}

TEST(DiskError, OnceAtAnyCallIsRetried) {
  const std::uint64_t calls = calls_of_a_turn(SimDisk::Calls::all);
  for (const int error : {ENOSPC, EIO, EMFILE}) {
    for (std::uint64_t k = 1; k <= calls; k += kStride) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      Machine m;
      must(m.open());
      deliver_turn(m);
      m.disk.fail_at(k, error, SimDisk::Calls::all);
      int failures = 0;
      while (failures < 5) {
        const Status drained = m.drain();
        if (drained.ok()) break;
        ++failures;
      }
      EXPECT_LE(failures, 2);
      m.disk.clear_faults();
      must(m.drain());
      expect_all_taken_in(m);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(DiskError, ThatLastsIsReturnedUntilTheDiskWorksAgain) {
  const std::uint64_t calls = calls_of_a_turn(SimDisk::Calls::changing);
  for (const int error : {ENOSPC, EIO, EROFS}) {
    for (std::uint64_t k = 1; k <= calls; k += kStride) {
      SCOPED_TRACE("errno " + std::to_string(error) + " from call " + std::to_string(k));
      Machine m;
      must(m.open());
      deliver_turn(m);
      m.disk.fail_from(k, error);
      for (int i = 0; i < 3; ++i) ignore(m.drain());
      m.disk.clear_faults();
      must(m.drain());
      must(m.drain());
      expect_all_taken_in(m);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(DiskError, AFullDiskIsShownInStatusAndLosesNothing) {
  Machine m;
  must(m.open());
  Chat chat;
  m.tell(chat.start());
  std::string big(200'000, 'x');
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>('a' + (i * i + i / 7) % 26);
  m.deliver(chat.prompt(big));
  m.disk.set_capacity(m.disk.used() + 40'000);
  const auto step = m.engine->step();
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.error().code, Code::full) << step.error().message;
  const std::string problems = must(m.run("status"))["problems"].dump();
  EXPECT_NE(problems.find("disk is full"), std::string::npos) << problems;
  EXPECT_EQ(must(m.engine->waiting()), 1u);
  m.disk.set_capacity(1u << 30);
  must(m.drain());
  EXPECT_EQ(m.number("SELECT length(prompt_text) FROM user_prompts"), 200'000);
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
}

TEST(DiskError, WhileStartingIsReturnedAndTheNextStartReadsEverything) {
  for (const int error : {ENOSPC, EIO, EMFILE}) {
    for (std::uint64_t k = 1; k <= 90; k += kStride) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      Machine m;
      must(m.open());
      deliver_turn(m);
      // A daemon died with two files in cur/.
      const Lines waiting = m.files("new");
      m.close();
      for (const int i : {0, 1})
        must(m.disk.rename(m.home.inbox() + "/new/" + waiting[i], m.home.inbox() + "/cur/" + waiting[i]));
      m.disk.fail_at(k, error, SimDisk::Calls::all);
      if (m.open().ok()) ignore(m.drain());
      m.disk.clear_faults();
      if (!m.engine) must(m.open());
      must(m.drain());
      expect_all_taken_in(m);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(DiskError, AFullDiskWithoutARecordedReasonIsShownInStatus) {
  Machine m;
  must(m.open());
  deliver_turn(m);
  m.disk.set_capacity(m.disk.used());
  ASSERT_FALSE(m.engine->step().ok());
  EXPECT_EQ(m.number("SELECT count(*) FROM meta WHERE key = 'intake_error'"), 0) << "it could be written";
  const std::string problems = must(m.run("status"))["problems"].dump();
  EXPECT_NE(problems.find("disk is full"), std::string::npos) << problems;
  m.disk.set_capacity(1u << 30);
  must(m.drain());
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
  expect_all_taken_in(m);
}

TEST(DiskError, AFullDiskAtTheVeryFirstStartKeepsEventsInTheInbox) {
  Machine m;
  deliver_turn(m);
  m.disk.set_capacity(m.disk.used() + 20'000);
  ASSERT_FALSE(m.open().ok());
  EXPECT_EQ(m.files("new").size(), 5u);
  m.disk.set_capacity(1u << 30);
  must(m.open());
  must(m.drain());
  expect_all_taken_in(m);
}

TEST(DiskError, AtTheVeryFirstStartLeavesNoStoreThatWorksWithoutItsLog) {
  for (const int error : {ENOSPC, EIO}) {
    for (std::uint64_t k = 1; k <= 60; k += kStride) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      Machine m;
      deliver_turn(m);
      m.disk.fail_at(k, error);
      ignore(m.open());
      m.disk.clear_faults();
      if (!m.engine) must(m.open());
      EXPECT_EQ(m.text("PRAGMA journal_mode"), "wal");
      must(m.drain());
      expect_all_taken_in(m);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace cairn::test
