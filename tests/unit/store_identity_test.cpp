// The memory id as a state: registered once or again, never mixed up, resumed only when it may be.
#include <gtest/gtest.h>

#include "store/identity.h"
#include "store/observations.h"
#include "store/sessions.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;
using store::Captured;
using store::Identity;
using store::NotCaptured;

class IdentityTest : public testing::Test {
 protected:
  IdentityTest() {
    must(m.open());
    other.session = "another-content";
    m.tell(chat.prompt("work"));
    m.tell(other.prompt("other work"));
  }

  Result<Captured> capture(const std::string& id, const std::string& provider = "claude-cli",
                           std::int64_t session = 1) {
    return store::register_memory_id(m.db(), SessionId{session}, MemoryId{id}, provider, m.clock.now());
  }
  bool captured(std::int64_t session = 1) {
    return std::holds_alternative<Captured>(must(store::identity_of(m.db(), SessionId{session})));
  }
  void observe(const std::string& memory, const std::string& title = "a thing") {
    store::Observation learned;
    learned.project = "proj";
    learned.title = title;
    must(store::add_observation(m.db(), MemoryId{memory}, learned));
  }
  Lines query(const std::string& name, const std::string& id = "") {
    Json args = Json::object({{"name", name}});
    if (!id.empty()) args.set("id", id);
    const Json result = must(m.run("debug.sql", args));
    Lines lines;
    for (const Json& row : result["rows"].items()) lines.push_back(row.dump());
    return lines;
  }

  Machine m;
  Chat chat, other;
};

TEST_F(IdentityTest, AfterItsFirstEventASessionHasAContentIdAndNoMemoryId) {
  const auto session = must(store::find_session(m.db(), SessionId{1}));
  EXPECT_EQ(session->content_id.value, chat.session);
  EXPECT_TRUE(std::holds_alternative<NotCaptured>(session->identity));
  EXPECT_FALSE(captured());
  EXPECT_EQ(store::identity_of(m.db(), SessionId{99}).error().code, Code::not_found);
}

TEST_F(IdentityTest, ItIsCapturedOnceAndTheStateSaysByWhom) {
  const Captured first = must(capture("memory-1"));
  EXPECT_EQ(first.id.value, "memory-1");
  const Identity known = must(store::find_session(m.db(), SessionId{1}))->identity;
  ASSERT_TRUE(std::holds_alternative<Captured>(known));
  EXPECT_EQ(std::get<Captured>(known).provider, "claude-cli");
  m.clock.advance(std::chrono::hours(1));
  const std::int64_t at = m.number("SELECT captured_at_epoch FROM sdk_sessions WHERE id = 1");
  must(capture("memory-1"));
  EXPECT_EQ(m.number("SELECT captured_at_epoch FROM sdk_sessions WHERE id = 1"), at);
  EXPECT_EQ(must(store::ensure_memory_id(m.db(), SessionId{1}, m.clock.now())).value, "memory-1");
}

TEST_F(IdentityTest, AnEmptyIdIsRefusedAndNothingIsCaptured) {
  EXPECT_EQ(capture("").error().code, Code::invalid);
  EXPECT_FALSE(captured());
}

TEST_F(IdentityTest, AContentIdOfAnySessionIsRefused) {
  for (const std::string& id : {chat.session, other.session}) {
    const auto refused = capture(id);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_NE(refused.error().message.find("content id"), std::string::npos);
  }
  EXPECT_FALSE(captured());
}

TEST_F(IdentityTest, AnotherEventOfASessionResetsNeitherIdNorPrompt) {
  must(capture("memory-1"));
  m.tell(chat.start("resume"));
  m.tell(chat.start());
  EXPECT_EQ(m.rows("SELECT id, memory_session_id, user_prompt FROM sdk_sessions WHERE id = 1"),
            (Lines{"1|memory-1|work"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 2);
}

TEST_F(IdentityTest, AnotherSessionsIdIsRefusedAndTheFirstKeepsIt) {
  must(capture("memory-1"));
  EXPECT_EQ(capture("memory-1", "claude-cli", 2).error().code, Code::invalid);
  EXPECT_TRUE(captured(1));
  EXPECT_FALSE(captured(2));
}

TEST_F(IdentityTest, NothingCanBeStoredBeforeTheIdIsRegistered) {
  store::Observation learned;
  learned.project = "proj";
  learned.title = "too early";
  EXPECT_EQ(store::add_observation(m.db(), MemoryId{"memory-1"}, learned).error().code, Code::invalid);
  EXPECT_EQ(store::add_observation(m.db(), MemoryId{chat.session}, learned).error().code, Code::invalid);
  must(capture("memory-1"));
  observe("memory-1");
}

TEST_F(IdentityTest, SessionsSideBySideNeverMixAndAreFoundByContentId) {
  must(capture("memory-1"));
  must(capture("memory-2", "claude-cli", 2));
  observe("memory-1", "of the first");
  observe("memory-2", "of the second");
  observe("memory-1", "of the first too");
  EXPECT_EQ(query("observations", chat.session).size(), 2u);
  const Lines second = query("observations", other.session);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(second[0].find("of the second"), std::string::npos);
}

TEST_F(IdentityTest, ALaterCaptureReplacesTheIdAndKeepsItsObservations) {
  m.tell(chat.stop());
  const std::string first = m.text("SELECT memory_session_id FROM sdk_sessions WHERE id = 1");
  observe(first);
  must(capture("memory-1"));
  must(capture("memory-2", "openai"));
  EXPECT_EQ(m.rows("SELECT DISTINCT memory_session_id FROM observations"), (Lines{"memory-2"}));
  EXPECT_EQ(m.rows("SELECT DISTINCT memory_session_id FROM session_summaries"), (Lines{"memory-2"}));
  EXPECT_EQ(query("orphans"), Lines{});
  EXPECT_EQ(query("observations", chat.session).size(), 1u);
}

TEST_F(IdentityTest, ASynthesisedIdHasItsPrefixAndPassesTheSameRules) {
  const MemoryId one = must(store::ensure_memory_id(m.db(), SessionId{1}, m.clock.now()));
  const MemoryId two = must(store::ensure_memory_id(m.db(), SessionId{2}, m.clock.now()));
  EXPECT_TRUE(one.value.starts_with("cairn-"));
  EXPECT_NE(one.value, two.value);
  EXPECT_TRUE(captured(1) && captured(2));
}

TEST(Resume, TheSixteenRowsOfTheTruthTable) {
  int may = 0;
  for (const bool is_captured : {false, true})
    for (const bool issued_by_us : {false, true})
      for (const bool second_prompt : {false, true})
        for (const bool fresh : {false, true}) {
          const Identity identity =
              is_captured ? Identity(Captured{MemoryId{"m-1"}, issued_by_us ? "ours" : "theirs"})
                          : Identity(NotCaptured{});
          const auto id = store::may_resume(identity, {"ours", second_prompt ? 2 : 1, fresh});
          EXPECT_EQ(id.has_value(), is_captured && issued_by_us && second_prompt && !fresh)
              << is_captured << issued_by_us << second_prompt << fresh;
          if (!id) continue;
          ++may;
          EXPECT_EQ(id->value, "m-1");
        }
  EXPECT_EQ(may, 1);
}

TEST(Resume, ASynthesisedIdIsNeverResumedNotEvenByWhoMadeIt) {
  const Identity identity = Captured{MemoryId{"cairn-0190"}, "builtin"};
  EXPECT_FALSE(store::may_resume(identity, {"builtin", 5, false}));
}

TEST(Resume, TheFirstPromptAndNoPromptStartFresh) {
  const Identity identity = Captured{MemoryId{"m-1"}, "ours"};
  for (const std::int64_t prompt : {-1, 0, 1})
    EXPECT_FALSE(store::may_resume(identity, {"ours", prompt, false}));
  EXPECT_TRUE(store::may_resume(identity, {"ours", 2, false}));
}

TEST_F(IdentityTest, AfterARestartTheIdIsKeptAndTheRunIsFresh) {
  must(capture("memory-1"));
  must(m.open());
  const Identity identity = must(store::identity_of(m.db(), SessionId{1}));
  EXPECT_FALSE(store::may_resume(identity, {"claude-cli", 2, true}));
  EXPECT_EQ(std::get<Captured>(identity).id.value, "memory-1");
}

TEST_F(IdentityTest, ARepairGivesIdsThatAreNoContentIdsAndACaptureReplacesThem) {
  must(capture("memory-2", "claude-cli", 2));
  const Json repaired = must(m.run("sessions.repair", Json::object({{"missing_memory_id", true}})));
  ASSERT_EQ(repaired["repaired"].as_int(), 1);
  const std::string made(repaired["sessions"].items()[0]["memory_session_id"].as_string());
  EXPECT_TRUE(made.starts_with("manual-"));
  EXPECT_EQ(made.find(chat.session), std::string::npos);
  EXPECT_EQ(m.text("SELECT memory_session_id FROM sdk_sessions WHERE id = 1"), made);
  EXPECT_EQ(m.text("SELECT memory_session_id FROM sdk_sessions WHERE id = 2"), "memory-2");
  EXPECT_FALSE(store::may_resume(must(store::identity_of(m.db(), SessionId{1})), {"claude-cli", 2, false}));
  EXPECT_EQ(must(m.run("sessions.repair", Json::object({{"missing_memory_id", true}})))["repaired"].as_int(),
            0);
  observe(made);
  must(capture("memory-1"));
  EXPECT_EQ(m.rows("SELECT memory_session_id FROM observations"), (Lines{"memory-1"}));
  EXPECT_EQ(m.run("sessions.repair").error().code, Code::invalid);
}

TEST_F(IdentityTest, TheQueriesShowTheStateBeforeAndAfterCapture) {
  EXPECT_EQ(query("ids", chat.session), (Lines{"[\"" + chat.session + "\",null,\"NOT_CAPTURED\"]"}));
  EXPECT_EQ(query("not-captured").size(), 2u);
  EXPECT_NE(query("recent-sessions")[1].find("null"), std::string::npos);
  must(capture("memory-1"));
  EXPECT_EQ(query("ids", chat.session), (Lines{"[\"" + chat.session + "\",\"memory-1\",\"CAPTURED\"]"}));
  EXPECT_EQ(query("not-captured").size(), 1u);
  EXPECT_NE(query("recent-sessions")[1].find("memory-1"), std::string::npos);
}

TEST_F(IdentityTest, ObservationsAreCountedAndEachHasASession) {
  EXPECT_EQ(query("orphans"), Lines{});
  EXPECT_EQ(query("observations", chat.session), Lines{});
  EXPECT_EQ(query("observation-counts"), Lines{});
  must(capture("memory-1"));
  for (int i = 0; i < 5; ++i) observe("memory-1");
  EXPECT_EQ(query("orphans"), Lines{});
  EXPECT_EQ(query("observations", chat.session).size(), 5u);
  EXPECT_EQ(query("observation-counts"), (Lines{R"(["memory-1","5"])"}));
}

TEST_F(IdentityTest, TheNewestSummaryAndNoActiveSessionAfterACleanExit) {
  EXPECT_EQ(query("last-summary"), Lines{});
  EXPECT_EQ(query("active").size(), 2u);
  for (Chat* one : {&other, &chat}) {
    m.clock.advance(std::chrono::seconds(1));
    m.tell(one->prompt("the last request"));
    m.tell(one->stop());
    m.tell(one->end());
    const std::string memory = m.text(
        "SELECT memory_session_id FROM sdk_sessions WHERE content_session_id = '" + one->session + "'");
    EXPECT_NE(query("last-summary")[0].find(memory), std::string::npos);
  }
  EXPECT_EQ(query("active"), Lines{});
}

TEST_F(IdentityTest, CleanupMarksWhatWasLongSilentAsFailedAndSaysHowMany) {
  m.clock.advance(std::chrono::hours(20));
  m.tell(other.prompt("still here"));  // activity counts, not the start
  m.clock.advance(std::chrono::hours(5));
  const Json first = must(m.run("sessions.cleanup"));
  EXPECT_EQ(first["marked"].as_int(), 1);
  EXPECT_EQ(m.rows("SELECT status, completed_at IS NOT NULL, completed_at_epoch IS NOT NULL, end_reason FROM "
                   "sdk_sessions ORDER BY id"),
            (Lines{"failed|1|1|cleanup", "active|0|0|-"}));
  EXPECT_EQ(must(m.run("sessions.cleanup"))["marked"].as_int(), 0);
  EXPECT_EQ(must(m.run("sessions.cleanup", Json::object({{"max_age", 1}})))["marked"].as_int(), 1);
  m.tell(chat.prompt("on we go"));
  EXPECT_EQ(m.text("SELECT status FROM sdk_sessions WHERE id = 1"), "active");
}

TEST_F(IdentityTest, TheStateAndTheTimeOfEachTransitionAreShown) {
  const auto shown = [&] { return must(m.run("sessions.show", Json::object({{"id", 1}}))); };
  EXPECT_EQ(shown()["state"].as_string(), "NOT_CAPTURED");
  EXPECT_TRUE(shown()["captured_at"].is_null());
  EXPECT_TRUE(shown()["completed_at"].is_null());
  m.tell(chat.stop());
  EXPECT_EQ(shown()["state"].as_string(), "CAPTURED");
  EXPECT_TRUE(shown()["captured_at"].is_string());
  m.tell(chat.end());
  EXPECT_EQ(shown()["status"].as_string(), "completed");
  EXPECT_TRUE(shown()["completed_at"].is_string());
  m.tell(chat.prompt("again"));
  EXPECT_EQ(shown()["status"].as_string(), "active");
  EXPECT_EQ(shown()["state"].as_string(), "CAPTURED");
}

TEST_F(IdentityTest, ANewSessionIsLoggedWithoutAMemoryId) {
  EXPECT_TRUE(
      m.log.has("session=" + chat.session + " project=proj memory=none queue_depth=0 provider_running=no"));
}

}  // namespace
}  // namespace cairn::test
