// The two ids of a session: never mixed, never empty, never shared.
#include <gtest/gtest.h>

#include "store/observations.h"
#include "store/sessions.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

class Ids : public testing::Test {
 protected:
  Ids() {
    must(m.open());
    m.tell(chat.prompt("work"));
  }

  Status sql(const std::string& text) { return m.db().exec(text); }
  Status set_memory(const std::string& id) {
    return m.db().run("UPDATE sdk_sessions SET memory_session_id = ?, memory_provider = 'test' WHERE id = 1",
                      id);
  }

  Machine m;
  Chat chat;
};

TEST_F(Ids, TheMemoryIdIsAbsentUntilTheFirstSummary) {
  EXPECT_EQ(m.rows("SELECT memory_session_id, memory_provider FROM sdk_sessions"), (Lines{"-|-"}));
  m.tell(chat.stop());
  const std::string id = m.text("SELECT memory_session_id FROM sdk_sessions");
  EXPECT_TRUE(id.starts_with("cairn-")) << id;
  EXPECT_EQ(id.size(), 42u);
  EXPECT_EQ(m.text("SELECT memory_provider FROM sdk_sessions"), "builtin");
}

TEST_F(Ids, AnEmptyMemoryIdIsRefused) {
  EXPECT_EQ(set_memory("").error().code, Code::invalid);
}

TEST_F(Ids, AMemoryIdIsNeverAContentIdWhicheverComesFirst) {
  Chat other;
  other.session = "another-content";
  m.tell(other.start());
  EXPECT_EQ(set_memory(chat.session).error().code, Code::invalid);
  EXPECT_EQ(set_memory("another-content").error().code, Code::invalid);
  ASSERT_TRUE(set_memory("memory-1").ok());
  const std::string columns =
      "(uuid, platform, content_session_id, project, started_at, started_at_epoch, last_event_at_epoch) ";
  EXPECT_EQ(sql("INSERT INTO sdk_sessions" + columns + "VALUES('u', 'codex', 'memory-1', 'proj', '', 0, 0)")
                .error()
                .code,
            Code::invalid);
  EXPECT_EQ(sql("UPDATE sdk_sessions SET content_session_id = 'memory-1' WHERE id = 2").error().code,
            Code::invalid);
  EXPECT_EQ(m.rows("SELECT content_session_id FROM sdk_sessions ORDER BY id"),
            (Lines{chat.session, "another-content"}));
}

TEST_F(Ids, AMemoryIdBelongsToOneSession) {
  Chat other;
  other.session = "another-content";
  m.tell(other.start());
  ASSERT_TRUE(set_memory("memory-1").ok());
  EXPECT_EQ(sql("UPDATE sdk_sessions SET memory_session_id = 'memory-1', memory_provider = 'x' WHERE id = 2")
                .error()
                .code,
            Code::invalid);
  EXPECT_EQ(m.rows("SELECT coalesce(memory_session_id, '-') FROM sdk_sessions ORDER BY id"),
            (Lines{"memory-1", "-"}));
}

TEST_F(Ids, AnObservationNeedsARegisteredMemoryId) {
  store::Observation learned;
  learned.project = "proj";
  learned.title = "a thing";
  EXPECT_EQ(store::add_observation(m.db(), MemoryId{"unknown"}, learned).error().code, Code::invalid);
  EXPECT_EQ(store::add_observation(m.db(), MemoryId{chat.session}, learned).error().code, Code::invalid);
  ASSERT_TRUE(set_memory("memory-1").ok());
  EXPECT_TRUE(store::add_observation(m.db(), MemoryId{"memory-1"}, learned).ok());
}

TEST_F(Ids, ANewMemoryIdKeepsTheObservationsOfTheOldOne) {
  m.tell(chat.stop());
  const std::string first = m.text("SELECT memory_session_id FROM sdk_sessions");
  store::Observation learned;
  learned.project = "proj";
  learned.title = "a thing";
  must(store::add_observation(m.db(), MemoryId{first}, learned));
  ASSERT_TRUE(set_memory("memory-2").ok());
  EXPECT_EQ(m.rows("SELECT memory_session_id FROM observations"), (Lines{"memory-2"}));
  EXPECT_EQ(m.rows("SELECT memory_session_id FROM session_summaries"), (Lines{"memory-2"}));
  const Json orphans = must(m.run("debug.sql", Json::object({{"name", "orphans"}})));
  EXPECT_TRUE(orphans["rows"].items().empty());
  // And the turn's summary still finds its row.
  m.tell(chat.wrote("late.txt", "t1"));
  EXPECT_EQ(m.rows("SELECT memory_session_id, files_edited FROM session_summaries"),
            (Lines{R"(memory-2|["late.txt"])"}));
}

TEST_F(Ids, EnsuringAMemoryIdTwiceGivesTheSame) {
  const auto session = must(store::find_session(m.db(), SessionId{1}));
  const MemoryId first = must(store::ensure_memory_id(m.db(), session->id, m.clock.now()));
  EXPECT_EQ(must(store::ensure_memory_id(m.db(), session->id, m.clock.now())).value, first.value);
}

TEST_F(Ids, TheSameContentIdOfAnotherHostIsAnotherSession) {
  must(store::create_session(m.db(), {"codex", ContentId{chat.session}, "proj", {}, {}, "/", m.clock.now()}));
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 2);
  EXPECT_FALSE(
      store::create_session(m.db(), {"codex", ContentId{chat.session}, "proj", {}, {}, "/", m.clock.now()})
          .ok());
}

}  // namespace
}  // namespace cairn::test
