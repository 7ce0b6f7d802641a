// The daemon dies, or the power fails, at any call to the disk: every acknowledged event has its effect once.
#include <gtest/gtest.h>

#include <cerrno>

#include "fault/story.h"

namespace cairn::test {
namespace {

void expect_story(Machine& m) {
  for (const char* box : {"new", "cur"}) EXPECT_EQ(m.files(box), Lines{}) << box;
  EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"}));
  EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Lines{});
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'stored'"), 12);
  for (const EventId& id : m.delivered)
    EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE event_id = '" + id.value + "'"), 1);
  EXPECT_EQ(m.rows("SELECT content_session_id, status, prompt_count FROM sdk_sessions ORDER BY 1"),
            (Lines{"one|completed|1", "two|failed|1"}));
  EXPECT_EQ(m.rows("SELECT request, files_edited, provider FROM session_summaries ORDER BY 1"),
            (Lines{R"(first request|["a.txt"]|builtin)", R"(second request|["b.txt"]|builtin)"}));
  EXPECT_EQ(m.rows("SELECT status, count(*) FROM pending_messages GROUP BY 1"), (Lines{"processed|5"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence"), 12);
  Chat next;
  next.session = "next";
  EXPECT_NE(Machine::context_of(m.ask(next.start())).find("first request"), std::string::npos);
}

void expect_story_at_the_next_start(Machine& m) {
  const Status opened = m.open();
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  must(m.drain());
  expect_story(m);
}

// How many calls that change the disk the story takes.
std::uint64_t calls_of_the_story() {
  Machine m;
  must(m.open());
  deliver_story(m);
  const std::uint64_t before = m.disk.calls();
  must(m.drain());
  const std::uint64_t calls = m.disk.calls() - before;
  expect_story(m);
  return calls;
}

// Works until the disk stops answering, as if the process had died there.
void work_until_dead(Machine& m) {
  ignore(m.drain());
  m.close();
}

TEST(Crash, AtEveryCallLosesAndDoublesNothing) {
  const std::uint64_t calls = calls_of_the_story();
  ASSERT_GT(calls, 30u);
  for (std::uint64_t k = 1; k <= calls + 1; k += kStride) {
    SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
    Machine m;
    must(m.open());
    deliver_story(m);
    m.disk.halt_at(k);
    work_until_dead(m);
    m.disk.crash();
    expect_story_at_the_next_start(m);
    if (HasFailure()) return;
  }
}

TEST(Crash, WhileStartingAgainLosesAndDoublesNothing) {
  const std::uint64_t calls = calls_of_the_story();
  for (std::uint64_t k = 3; k <= calls; k += 7 * kStride) {
    for (std::uint64_t j = 1; j <= 25; j += 2) {
      SCOPED_TRACE("call " + std::to_string(k) + ", then call " + std::to_string(j) + " of the next start");
      Machine m;
      must(m.open());
      deliver_story(m);
      m.disk.halt_at(k);
      work_until_dead(m);
      m.disk.crash();
      m.disk.halt_at(j);
      if (m.open().ok()) ignore(m.drain());
      m.close();
      m.disk.crash();
      must(m.open());
      must(m.drain());
      EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"}));
      EXPECT_EQ(must(m.engine->waiting()), 0u);
      for (const EventId& id : m.delivered)
        EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE event_id = '" + id.value + "'"), 1) << id.value;
      EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'stored'"), 12);
      if (HasFailure()) return;
    }
  }
}

// Six crashes at the same place: a file that was read alone in five of them is taken for the cause and
// quarantined.
TEST(Crash, RepeatedWhileAFileIsReadAloneQuarantinesOnlyThatFile) {
  Machine m;
  must(m.open());
  deliver_story(m);
  bool dead = false;
  const auto die_reading = [&](std::string_view part) {
    dead = false;
    m.disk.on_call([&, part](std::string_view op, std::string_view file) {
      if (!dead && op == "read" && file.find(part) != std::string_view::npos) m.disk.halt(), dead = true;
    });
    if (m.engine || m.open().ok()) ignore(m.drain());
    m.disk.on_call(nullptr);
    m.close();
    m.disk.crash();
    return dead;
  };
  ASSERT_TRUE(die_reading("/cur/"));
  for (const char* mark : {".1", ".2", ".3", ".4", ".5"}) ASSERT_TRUE(die_reading(mark)) << mark;
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'bad'"), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'stored'"), 11);
  EXPECT_EQ(m.files("bad").size(), 1u);
}

TEST(PowerCut, AtEveryThirdCallLosesNothingThatWasMadeDurable) {
  const std::uint64_t calls = calls_of_the_story();
  for (std::uint64_t k = 1; k <= calls + 2; k += 3 * kStride) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE("call " + std::to_string(k) + ", seed " + std::to_string(seed));
      Machine m;
      m.sync = hook::Flags::Sync::disk;
      must(m.open());
      deliver_story(m);
      m.disk.halt_at(k);
      work_until_dead(m);
      m.disk.power_cut(seed * 1000 + k);
      expect_story_at_the_next_start(m);
      if (HasFailure()) return;
    }
  }
}

// An answer does not wait for the disk: until its commits are there, its event stays in the inbox.
TEST(PowerCut, AfterAnAnswerLosesNoEventThatWasMadeDurable) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine m;
    m.sync = hook::Flags::Sync::disk;
    must(m.open());
    deliver_story(m);
    if (seed % 2 == 0) must(m.drain());
    Chat next;
    next.session = "next";
    const auto first = m.ask(next.start(), seed % 3 == 0);
    m.ask(next.prompt("Go on"), false);
    if (seed % 4 == 0) must(m.engine->step());
    m.disk.halt();
    m.close();
    m.disk.power_cut(seed);
    must(m.open());
    must(m.drain());
    EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"}));
    for (const char* box : {"new", "cur"}) EXPECT_EQ(m.files(box), Lines{}) << box;
    for (const EventId& id : m.delivered)
      EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE event_id = '" + id.value + "'"), 1) << id.value;
    EXPECT_NE(Machine::context_of(first).find("first request"), std::string::npos);
    if (HasFailure()) return;
  }
}

// No sync stands between an event and its answer; one commit follows, and only then is the file removed.
TEST(Crash, AnAnswerWaitsForNoSync) {
  Machine m;
  must(m.open());
  deliver_story(m);
  must(m.drain());
  Chat next;
  next.session = "next";
  int syncs = 0;
  m.disk.on_call(
      [&](std::string_view op, std::string_view path) { syncs += op == "sync" && path.ends_with("-wal"); });
  for (const HookCall& call : {next.start(), next.prompt("Go on")}) {
    m.ask(call, false);
    EXPECT_EQ(syncs, 0);
    EXPECT_EQ(m.files("cur").size(), 1u);
    must(m.engine->step());
    EXPECT_GE(syncs, 1);
    EXPECT_EQ(m.files("cur"), Lines{});
    must(m.drain());
    syncs = 0;
  }
  m.disk.on_call(nullptr);
}

// A daemon that dies inside a commit leaves it written but not synced; the next one sees it, removes the
// files of its events, and must not have trusted it.
TEST(PowerCut, AfterACrashInsideACommitLosesNothingThatTheNextDaemonSaw) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine m;
    m.sync = hook::Flags::Sync::disk;
    must(m.open());
    deliver_story(m);
    m.disk.on_call([&](std::string_view op, std::string_view path) {
      if (op == "sync" && path.ends_with("-wal")) m.disk.halt();
    });
    work_until_dead(m);
    m.disk.on_call(nullptr);
    m.disk.crash();
    must(m.open());
    ASSERT_EQ(m.number("SELECT count(*) FROM events"), 12);
    for (int i = 0; i < 12; ++i) must(m.engine->step());
    m.disk.halt();
    m.close();
    m.disk.power_cut(seed);
    must(m.open());
    must(m.drain());
    expect_story(m);
    if (HasFailure()) return;
  }
}

// What a sync that failed has lost can still be read, and no later sync writes it.
TEST(PowerCut, AfterASyncThatFailedLosesNothingThatTheNextDaemonSaw) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine m;
    m.sync = hook::Flags::Sync::disk;
    must(m.open());
    deliver_story(m);
    m.disk.on_call([&, left = seed % 7](std::string_view op, std::string_view path) mutable {
      if (op == "sync" && path.ends_with("-wal") && left-- == 0) m.disk.fail_from(1, EIO);
    });
    EXPECT_FALSE(m.drain().ok());
    m.disk.on_call(nullptr);
    m.disk.halt();
    m.close();
    m.disk.crash();
    must(m.open());
    for (std::uint64_t i = 0; i < seed % 4; ++i) must(m.engine->step());
    constexpr std::string_view kDone =
        "SELECT id FROM pending_messages WHERE status = 'processed' ORDER BY id";
    const Lines seen = m.rows(kDone);
    m.disk.halt();
    m.close();
    m.disk.power_cut(seed);
    must(m.open());
    EXPECT_EQ(m.rows(kDone), seen);
    must(m.drain());
    expect_story(m);
    if (HasFailure()) return;
  }
}

// The same daemon goes on after a sync that failed: the pages may be gone although the next sync succeeds.
TEST(PowerCut, AfterASyncThatFailedAndWasRetriedLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine m;
    m.sync = hook::Flags::Sync::disk;
    must(m.open());
    deliver_story(m);
    bool has_failed = false;
    m.disk.on_call([&, left = seed % 5](std::string_view op, std::string_view path) mutable {
      if (has_failed || op != "sync" || !path.ends_with("-wal") || left-- != 0) return;
      m.disk.fail_at(1, EIO);
      has_failed = true;
    });
    for (int tries = 0; tries < 100 && (!m.drain().ok() || m.engine->waiting().value() > 0); ++tries)
      m.clock.advance(std::chrono::seconds(1));
    m.disk.on_call(nullptr);
    EXPECT_TRUE(has_failed);
    EXPECT_EQ(m.files("cur"), Lines{});
    m.disk.halt();
    m.close();
    m.disk.power_cut(seed);
    must(m.open());
    must(m.drain());
    expect_story(m);
    if (HasFailure()) return;
  }
}

TEST(PowerCut, DuringTheVeryFirstStartLeavesAHomeThatOpens) {
  for (std::uint64_t k = 1; k <= 60; k += 2 * kStride) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE("call " + std::to_string(k) + ", seed " + std::to_string(seed));
      Machine m;
      m.sync = hook::Flags::Sync::disk;
      deliver_story(m);  // the first hook starts the first daemon
      m.disk.halt_at(k);
      ignore(m.open());
      m.close();
      m.disk.power_cut(seed * 77 + k);
      const Status opened = m.open();
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      must(m.drain());
      expect_story(m);
      if (HasFailure()) return;
    }
  }
}

TEST(PowerCut, WithoutDurableDeliveriesTheStoreStillOpensAndHoldsWhatItCommitted) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Machine m;
    must(m.open());
    deliver_story(m);
    must(m.drain());
    Chat late;
    late.session = "late";
    m.deliver(late.prompt("perhaps lost"));
    m.close();
    m.disk.power_cut(seed);
    must(m.open());
    must(m.drain());
    EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2) << seed;
    EXPECT_EQ(m.rows("PRAGMA integrity_check"), (Lines{"ok"})) << seed;
    EXPECT_GE(m.number("SELECT count(*) FROM events WHERE outcome = 'stored'"), 12) << seed;
    EXPECT_LE(m.number("SELECT count(*) FROM events WHERE outcome = 'bad'"), 1) << seed;
  }
}

}  // namespace
}  // namespace cairn::test
