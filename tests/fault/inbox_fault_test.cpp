// Deliveries on a failing disk: complete or not at all, and still there after a power cut.
#include <gtest/gtest.h>

#include <cerrno>

#include "fault/story.h"
#include "hook/envelope.h"
#include "hook/failures.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using hook::Envelope;
using hook::Flags;

constexpr int kErrors[] = {ENOSPC, EIO, EACCES, EROFS, EDQUOT, EMFILE, ENOENT};

// Every file in new/ is a whole delivery of `payload`.
void expect_whole(Machine& m, const std::string& payload) {
  const auto names = m.disk.list(m.home.inbox() + "/new");
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const std::string file = m.read(m.home.inbox() + "/new/" + name);
    const auto decoded = Envelope::decode(file);
    ASSERT_TRUE(decoded.ok()) << name << ": " << decoded.error().message;
    EXPECT_EQ(decoded->payload, payload);
  }
}

void fail_at_every_call(const std::string& payload, Flags::Sync sync, bool inbox_is_there,
                        SimDisk::Unnamed unnamed = SimDisk::Unnamed::can_be_named) {
  for (const int error : kErrors) {
    for (std::uint64_t k = 1;; ++k) {
      SCOPED_TRACE("errno " + std::to_string(error) + " at call " + std::to_string(k));
      Machine m;
      m.sync = sync;
      m.disk.set_unnamed(unnamed);
      if (inbox_is_there) {
        must(m.open());
        m.close();
      }
      const std::uint64_t before = m.disk.calls(SimDisk::Calls::all);
      m.disk.fail_at(k, error, SimDisk::Calls::all);
      const auto delivered = m.try_deliver("Stop", payload);
      const bool reached = m.disk.calls(SimDisk::Calls::all) - before >= k;
      m.disk.clear_faults();
      expect_whole(m, payload);
      if (delivered.ok()) {
        EXPECT_TRUE(m.disk.stat(m.home.inbox() + "/new/" + delivered->value).ok());
      } else if (inbox_is_there) {
        hook::note_failure(m.disk, m.home, true, {1, "Stop", "s", delivered.error().message});
        EXPECT_EQ(hook::read_failures(m.disk, m.home).size(), 1u);
      }
      // The next one comes through, whatever was left behind.
      ASSERT_TRUE(m.try_deliver("Stop", payload).ok());
      expect_whole(m, payload);
      if (!reached) {
        EXPECT_TRUE(delivered.ok());
        EXPECT_GT(k, 3u);
        break;
      }
    }
  }
}

TEST(InboxFaults, ASmallEventIsWholeOrAbsentWhateverCallFails) {
  for (const bool there : {true, false}) {
    for (const auto unnamed :
         {SimDisk::Unnamed::can_be_named, SimDisk::Unnamed::stay_unnamed, SimDisk::Unnamed::refused})
      fail_at_every_call("{\"session_id\":\"s\"}\n", Flags::Sync::process, there, unnamed);
    fail_at_every_call("{\"session_id\":\"s\"}\n", Flags::Sync::disk, there);
  }
}

TEST(InboxFaults, ALargeEventIsWholeOrAbsentWhateverCallFails) {
  fail_at_every_call(std::string(300'000, 'x'), Flags::Sync::disk, true);
}

TEST(InboxFaults, ADiskThatStaysFullTakesNothingAndKeepsWhatItHas) {
  Machine m;
  must(m.open());
  Chat chat;
  m.deliver(chat.prompt("before"));
  m.disk.set_capacity(m.disk.used() + 100);
  for (int i = 0; i < 5; ++i) {
    const auto full = m.try_deliver(chat.ran("make", "t"));
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.error().code, Code::full);
  }
  EXPECT_EQ(m.files("new").size(), 1u);
  EXPECT_EQ(m.files("tmp").size(), 0u);
  m.disk.set_capacity(1u << 30);
  must(m.drain());
  EXPECT_EQ(m.text("SELECT prompt_text FROM user_prompts"), "before");
}

void expect_there(Machine& m, const std::string& what) {
  for (const EventId& id : m.delivered) {
    const auto file = os::read_file(m.disk, m.home.inbox() + "/new/" + id.value, 1u << 20);
    ASSERT_TRUE(file.ok()) << what << ": " << id.value << " is gone";
    EXPECT_TRUE(Envelope::decode(*file).ok()) << what;
  }
}

TEST(InboxFaults, ADurableEventSurvivesAPowerCut) {
  for (std::uint64_t seed = 1; seed <= tries(200, 2000); ++seed) {
    Machine m;
    m.sync = Flags::Sync::disk;
    Chat chat;
    m.deliver(chat.start());
    m.deliver(chat.prompt("work"));
    must(m.try_deliver("PostToolUse", std::string(150'000, 'y')));
    m.disk.power_cut(seed);
    expect_there(m, "seed " + std::to_string(seed));
  }
}

TEST(InboxFaults, ADurableEventInANewInboxSurvivesAPowerCut) {
  for (std::uint64_t seed = 1; seed <= tries(200, 2000); ++seed) {
    Machine m;
    m.sync = Flags::Sync::disk;
    must(m.open());
    Chat chat;
    m.deliver(chat.start());
    m.close();
    m.disk.power_cut(seed);
    expect_there(m, "seed " + std::to_string(seed));
  }
}

TEST(InboxFaults, AnEventSurvivesTheDeathOfItsProcess) {
  Machine m;
  Chat chat;
  m.deliver(chat.start());
  m.deliver(chat.prompt("work"));
  m.disk.crash();
  expect_there(m, "crash");
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'stored'"), 2);
}

TEST(InboxFaults, AHookThatDiesAnywhereLeavesNoHalfEvent) {
  for (std::uint64_t k = 1; k <= 24; ++k) {
    Machine m;
    m.sync = k <= 12 ? Flags::Sync::disk : Flags::Sync::process;
    must(m.open());
    m.disk.halt_at((k - 1) % 12 + 1);
    const auto delivered = m.try_deliver("Stop", "{\"session_id\":\"s\"}\n");
    m.close();
    m.disk.crash();
    expect_whole(m, "{\"session_id\":\"s\"}\n");
    must(m.open());
    must(m.drain());
    EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'bad'"), 0);
    if (delivered.ok()) {
      EXPECT_EQ(m.number("SELECT count(*) FROM events"), 1);
    }
    // What it left in tmp/ is removed once it is surely dead.
    m.clock.advance(std::chrono::hours(2));
    must(m.engine->tick());
    EXPECT_EQ(m.files("tmp").size(), 0u);
  }
}

}  // namespace
}  // namespace cairn::test
