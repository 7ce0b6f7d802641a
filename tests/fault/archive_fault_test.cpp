// A copy that dies, or meets errors, at any call to the disk: the old versions or the old and the new one,
// all of them whole.
#include <gtest/gtest.h>

#include <cerrno>

#include "archive/repair.h"
#include "fault/story.h"
#include "ops/backup.h"
#include "os/path.h"
#include "unit/transcript_lines.h"

namespace cairn::test {
namespace {

// A session with one backup whose transcript has grown; its end waits in the inbox.
struct Grown {
  Machine m;
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};
  std::string before;

  Grown() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("make a parser"));
    transcript.prompt("make a parser, my token is ghp_16C7e42F292c6912E7710c838347Ae178B4a");
    provide();
    m.tell(chat.end());
    before = transcript.text;
    m.tell(chat.start("resume"));
    transcript.answer("The transcript has grown by this answer since then.");
    provide();
    m.sync = hook::Flags::Sync::disk;
    m.deliver(chat.end("logout"));
  }
  void provide() {
    m.disk.provide_dir(os::above(transcript.path()));
    m.disk.provide_file(transcript.path(), transcript.text);
  }

  void expect_whole() {
    const Json verified = must(m.run("backup.verify", Json::object({{"all", true}})));
    EXPECT_TRUE(verified["ok"].as_bool()) << verified.dump();
    EXPECT_EQ(m.read(transcript.path()), transcript.text);
    EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
  }
  // After the next start everything is there, and nothing else.
  void expect_both_at_the_next_start() {
    const Status opened = m.open();
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    expect_whole();
    must(m.drain());
    m.clock.advance(std::chrono::minutes(3));  // for what failed and waits
    must(m.engine->tick());
    must(m.drain());
    expect_whole();
    // A copy that failed may be made by the look for last lines first; the end is a version of its own then.
    EXPECT_EQ(m.rows("SELECT DISTINCT lines FROM backups ORDER BY version"), (Lines{"1", "2"}));
    for (const archive::Defect& defect : must(archive::find_defects(m.db(), m.disk, ops::archive_of(m.home))))
      ADD_FAILURE() << defect.file << ": " << defect.what;
    EXPECT_EQ(m.number("SELECT count(*) FROM backup_requests WHERE error IS NOT NULL"), 0);
  }
};

std::uint64_t calls_of_a_copy() {
  Grown grown;
  const std::uint64_t before = grown.m.disk.calls();
  must(grown.m.drain());
  return grown.m.disk.calls() - before;
}

TEST(ArchiveCrash, AtEveryCallLeavesTheOldStateOrTheNew) {
  const std::uint64_t calls = calls_of_a_copy();
  ASSERT_GT(calls, 10u);
  for (std::uint64_t k = 1; k <= calls + 1; k += kStride) {
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
    Grown grown;
    grown.m.disk.halt_at(k);
    ignore(grown.m.drain());
    grown.m.close();
    grown.m.disk.crash();
    grown.expect_both_at_the_next_start();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ArchiveCrash, APowerCutAtEveryCallLeavesTheOldStateOrTheNew) {
  const std::uint64_t calls = calls_of_a_copy();
  for (std::uint64_t k = 1; k <= calls + 1; k += kStride) {
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
    Grown grown;
    grown.m.disk.halt_at(k);
    ignore(grown.m.drain());
    grown.m.close();
    grown.m.disk.power_cut(k * 31 + 7);
    grown.expect_both_at_the_next_start();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ArchiveDiskError, OnceAtAnyCallIsOvercome) {
  const std::uint64_t calls = calls_of_a_copy();
  for (const int error : {ENOSPC, EIO, EACCES})
    for (std::uint64_t k = 1; k <= calls; k += kStride) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      Grown grown;
      grown.m.disk.fail_at(k, error);
      ignore(grown.m.drain());
      grown.m.disk.clear_faults();
      grown.m.close();
      grown.expect_both_at_the_next_start();
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace cairn::test
