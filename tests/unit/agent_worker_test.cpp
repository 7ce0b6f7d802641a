// The worker with a scripted provider: when things are stored, under which id, and what happens when not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/worker.h"
#include "ops/settings.h"
#include "store/evidence.h"
#include "store/identity.h"
#include "support/engine_fixture.h"
#include "support/scripted_provider.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using agent::Request;
using agent::Trouble;
using Lines = std::vector<std::string>;

class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    m.provider = &provider;
    must(m.open());
    other.session = "22222222-aaaa-4bbb-8ccc-000000000002";
  }

  ~AgentTest() override { m.close(); }

  // A whole turn of `count` commands.
  void turn(Chat& in, int count = 1, const std::string& text = "work") {
    m.deliver(in.prompt(text));
    for (int i = 0; i < count; ++i) m.deliver(in.ran("make", in.session + std::to_string(++uses_)));
    m.deliver(in.stop());
    must(m.drain());
  }
  void wait(Millis time) {
    m.clock.advance(time);
    must(m.drain());
  }
  // Events wait for the provider.
  void without_fallback() {
    must(ops::set_setting(m.disk, m.home, "agent.fallback", "none"));
    m.engine->reload();
  }
  void every_plan(const Plan& plan) {
    provider.script = [plan](SessionId, const Request&) { return plan; };
  }
  Lines observations() { return m.rows("SELECT memory_session_id, title FROM observations ORDER BY id"); }
  Lines queue() {
    return m.rows("SELECT status, retry_count, last_error FROM pending_messages GROUP BY 1, 2, 3");
  }

  Machine m;
  ScriptedProvider provider{m.clock};
  Chat chat, other;

 private:
  int uses_ = 0;
};

TEST_F(AgentTest, AReplyCannotLabelAnything) {
  every_plan(
      Plan::learns("[w\xe2\x80\x8b"
                   "eb] it \x01said\x04"));
  turn(chat);
  EXPECT_EQ(m.text("SELECT title FROM observations WHERE memory_session_id = 'memory-1'"), "(web) it said");
}

TEST_F(AgentTest, ABatchBecomesObservationsUnderTheCapturedIdWithTheirEvidence) {
  turn(chat, 2);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE memory_session_id = 'memory-1'"), 3);
  EXPECT_EQ(m.rows("SELECT o.position, e.name FROM observations o JOIN observation_evidence v ON "
                   "v.observation_id = o.id JOIN events e ON e.seq = v.event_seq ORDER BY 1"),
            (Lines{"0|PostToolUse", "1|PostToolUse", "2|Stop"}));
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages"), (Lines{"processed"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence WHERE input_payload IS NOT NULL"), 2);
  // What the built-in distiller wrote before now has the same id.
  EXPECT_EQ(m.rows("SELECT memory_session_id FROM session_summaries"), (Lines{"memory-1"}));
}

TEST_F(AgentTest, TheIdIsRegisteredOnTheFirstMessageAndBeforeAnythingIsStored) {
  every_plan([] {
    Plan plan = Plan::learns("late");
    plan.reply_after = 5s;
    return plan;
  }());
  turn(chat);
  EXPECT_EQ(m.text("SELECT memory_session_id FROM sdk_sessions"),
            "memory-1");  // a message without a reply carried the id
  EXPECT_EQ(observations(), Lines{});
  EXPECT_TRUE(m.log.has("memory id registered session=1 memory=memory-1 provider=scripted"));
  wait(5s);
  EXPECT_EQ(observations(), (Lines{"memory-1|late"}));
}

TEST_F(AgentTest, AnIdThatComesWithTheReplyItselfIsRegisteredFirst) {
  Plan plan = Plan::learns("at once");
  plan.id_with_reply = true;
  every_plan(plan);
  turn(chat);
  EXPECT_EQ(observations(), (Lines{"memory-1|at once"}));
}

TEST_F(AgentTest, AnIdThatComesAfterTheReplyIsWaitedFor) {
  Plan plan = Plan::learns("one");
  plan.id_after = 200ms;
  every_plan(plan);
  turn(chat);
  EXPECT_EQ(observations(), Lines{});
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages"), (Lines{"processing"}));
  wait(100ms);
  EXPECT_EQ(observations(), Lines{});
  wait(100ms);  // it is there, but the next look is due after 100 + 200 ms
  wait(100ms);
  EXPECT_EQ(observations(), (Lines{"memory-1|one"}));
  EXPECT_EQ(queue(), (Lines{"processed|0|-"}));
}

TEST_F(AgentTest, AnIdThatNeverComesPutsTheMessagesBackAndFailsNone) {
  Plan plan = Plan::learns("one");
  plan.id_after.reset();
  every_plan(plan);
  turn(chat);
  for (int ms = 0; ms < 3100; ms += 10) {
    EXPECT_NE(m.text("SELECT status FROM pending_messages"), "pending") << ms;
    wait(10ms);
  }
  EXPECT_EQ(queue(), (Lines{"pending|0|memorySessionId not yet captured after retries"}));
  EXPECT_TRUE(m.log.has("memorySessionId not yet captured after retries session=1"));
  EXPECT_EQ(provider.open, 0);
  // However often: it stays in the queue, is asked less and less often, and is stored once the id comes.
  for (int i = 0; i < 1200; ++i) wait(1s);
  EXPECT_LT(provider.requests.size(), 13u);
  EXPECT_GT(provider.requests.size(), 6u);
  EXPECT_EQ(m.rows("SELECT DISTINCT retry_count FROM pending_messages WHERE status <> 'failed'"),
            (Lines{"0"}));
  EXPECT_EQ(observations(), Lines{});
  every_plan(Plan::learns("one"));
  for (int i = 0; i < 10; ++i) wait(1min);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE title = 'one'"), 1);
  EXPECT_EQ(queue(), (Lines{"processed|0|-"}));
}

TEST_F(AgentTest, FiveRapidEventsBeforeTheIdAreAllStoredUnderIt) {
  provider.script = [](SessionId, const Request& request) {
    Plan plan = Plan::learns_each(request);
    plan.id_after = 700ms;
    return plan;
  };
  for (const bool start_first : {true, false}) {  // whichever hook the session begins with
    Chat one;
    one.session = start_first ? "started" : "prompted";
    if (start_first) m.deliver(one.start());
    turn(one, 5);
    for (int i = 0; i < 40; ++i) wait(50ms);
    EXPECT_EQ(
        m.number("SELECT count(*) FROM observations o JOIN sdk_sessions s USING(memory_session_id) JOIN "
                 "observation_evidence v ON v.observation_id = o.id JOIN events e ON e.seq = v.event_seq "
                 "WHERE e.kind = 'tool' AND s.content_session_id = '" +
                 one.session + "'"),
        5);
  }
}

TEST_F(AgentTest, ASessionThatWaitsForItsIdBlocksNoOther) {
  provider.script = [](SessionId session, const Request& request) {
    Plan plan = Plan::learns_each(request);
    if (session.value == 1) plan.id_after.reset();
    return plan;
  };
  turn(chat);
  turn(other, 3);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE memory_session_id = 'memory-2'"), 4);
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages WHERE session_db_id = 1"),
            (Lines{"processing"}));
}

TEST_F(AgentTest, AHungSessionBlocksNoOtherAndItsMessagesAreTriedAgain) {
  provider.script = [](SessionId session, const Request& request) {
    Plan plan = Plan::learns_each(request);
    if (session.value == 1) plan.reply_after.reset();
    return plan;
  };
  turn(chat);
  for (int i = 0; i < 5; ++i) turn(other, 1, "work " + std::to_string(i));
  EXPECT_EQ(m.number("SELECT count(*) FROM observations"), 10);
  for (int i = 0; i < 300; ++i) wait(1s);
  EXPECT_EQ(m.rows("SELECT DISTINCT retry_count, last_error FROM pending_messages WHERE session_db_id = 1"),
            (Lines{"1|transient: no reply within 300 s"}));
  provider.script = [](SessionId, const Request& request) { return Plan::learns_each(request); };
  for (int i = 0; i < 10; ++i) wait(1s);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations"), 12);
}

TEST_F(AgentTest, AHeartbeatKeepsABatchWhoseReplyTakesLongerThanItsLease) {
  must(ops::set_setting(m.disk, m.home, "queue.stuck_seconds", "30"));
  must(m.engine->tick());
  Plan plan = Plan::learns("slow");
  plan.reply_after = 200s;
  every_plan(plan);
  turn(chat);
  for (int i = 0; i < 20; ++i) {
    wait(10s);
    must(m.engine->tick());
  }
  wait(1s);
  EXPECT_EQ(observations(), (Lines{"memory-1|slow"}));
  EXPECT_EQ(queue(), (Lines{"processed|0|-"}));
}

TEST_F(AgentTest, AfterARestartTheConversationIsFreshAndTheNextOneMayResume) {
  turn(chat);
  m.tell(chat.end());
  EXPECT_EQ(provider.open, 0);
  m.tell(chat.start("resume"));
  turn(chat, 1, "more");
  ASSERT_EQ(provider.starts.size(), 2u);
  EXPECT_EQ(provider.starts[0].resume, std::nullopt);  // not captured
  EXPECT_EQ(provider.starts[1].resume, MemoryId{"memory-1"});
  must(m.open());
  EXPECT_EQ(m.text("SELECT memory_session_id FROM sdk_sessions"), "memory-1");
  turn(chat, 1, "after the restart");
  ASSERT_EQ(provider.starts.size(), 3u);
  EXPECT_EQ(provider.starts[2].resume, std::nullopt);
  EXPECT_EQ(m.text("SELECT memory_session_id FROM sdk_sessions"), "memory-3");
  // Registered again: records of the earlier id have the new one.
  EXPECT_EQ(m.rows("SELECT DISTINCT memory_session_id FROM observations"), (Lines{"memory-3"}));
}

TEST_F(AgentTest, NoContentIdIsEverResumedAndNeitherIsAnIdOfAnother) {
  turn(chat);  // captured by this provider
  m.tell(chat.end());
  must(store::register_memory_id(m.db(), SessionId{1}, MemoryId{"theirs"}, "claude-cli", m.clock.now()));
  m.tell(chat.start("resume"));
  turn(chat, 1, "more");
  for (const agent::Start& start : provider.starts) EXPECT_EQ(start.resume, std::nullopt);
}

TEST_F(AgentTest, AConversationAfterACrashIsFresh) {
  turn(chat);
  every_plan(Plan::fails(Trouble::Kind::transient));
  turn(chat, 1, "more");
  every_plan(Plan::learns("x"));
  wait(1min);
  ASSERT_EQ(provider.starts.size(), 2u);
  EXPECT_EQ(provider.starts[1].resume, std::nullopt);
}

TEST_F(AgentTest, AnIdOfAnotherSessionIsRefusedAndStaysThere) {
  without_fallback();
  turn(chat);
  provider.script = [&](SessionId, const Request& request) {
    Plan plan = Plan::learns_each(request);
    plan.id = "memory-1";
    return plan;
  };
  turn(other);
  EXPECT_EQ(m.text("SELECT content_session_id FROM sdk_sessions WHERE memory_session_id = 'memory-1'"),
            chat.session);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE memory_session_id = 'memory-1'"), 2);
  EXPECT_EQ(m.rows("SELECT DISTINCT status, retry_count FROM pending_messages WHERE session_db_id = 2"),
            (Lines{"pending|0"}));
  provider.script = [&](SessionId, const Request& request) {
    Plan plan = Plan::learns_each(request);
    plan.id = chat.session;
    return plan;
  };
  for (int i = 0; i < 5; ++i) wait(1min);
  EXPECT_TRUE(m.log.has("is a session's content id"));
  EXPECT_EQ(m.number("SELECT count(*) FROM observations"), 2);
}

TEST_F(AgentTest, AProviderWithoutIdsStoresUnderASynthesisedOne) {
  provider.ids = false;
  Plan plan = Plan::learns("one");
  plan.id_after.reset();
  every_plan(plan);
  turn(chat);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE memory_session_id GLOB 'cairn-*'"), 1);
}

TEST_F(AgentTest, AnIdGivenByHandLetsAReplyThroughThatWaitedForOne) {
  Plan plan = Plan::learns("one");
  plan.id_after.reset();
  every_plan(plan);
  m.tell(chat.stop(""));  // nothing to summarise, so there is no id yet
  ASSERT_EQ(m.text("SELECT coalesce(memory_session_id, 'none') FROM sdk_sessions"), "none");
  must(m.run("sessions.repair", Json::object({{"missing_memory_id", true}})));
  wait(100ms);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE memory_session_id GLOB 'manual-*'"), 1);
}

TEST_F(AgentTest, SessionsSideBySideNeverMix) {
  provider.script = [](SessionId session, const Request&) {
    Plan plan = Plan::learns("of session " + std::to_string(session.value));
    plan.reply_after = Millis(session.value == 1 ? 300 : 100);
    return plan;
  };
  for (int i = 0; i < 3; ++i) {
    turn(chat, 1, "a" + std::to_string(i));
    turn(other, 1, "b" + std::to_string(i));
  }
  wait(1s);
  wait(1s);
  EXPECT_EQ(
      m.rows("SELECT DISTINCT s.id, o.title FROM observations o JOIN sdk_sessions s USING(memory_session_id) "
             "ORDER BY 1"),
      (Lines{"1|of session 1", "2|of session 2"}));
}

TEST_F(AgentTest, AReplyIsStoredWithItsMessagesOrNotAtAll) {
  Plan plan = Plan::learns("one");
  plan.reply_after = 1s;
  every_plan(plan);
  turn(chat, 2);
  // While the model works, a message is removed: the reply is not stored, and the other messages are sent
  // again.
  must(m.run("queue.abort", Json::object({{"id", 1}})));
  wait(1s);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations"), 0);
  wait(5s);
  wait(1s);
  EXPECT_EQ(observations(), (Lines{"memory-2|one"}));
  EXPECT_EQ(queue(), (Lines{"processed|0|-"}));
}

TEST_F(AgentTest, WhatAProviderSaysPassesTheGate) {
  every_plan(Plan::learns("the <private>zebra</private> is fed"));
  turn(chat);
  EXPECT_EQ(observations(), (Lines{"memory-1|the [private] is fed"}));
}

TEST_F(AgentTest, AProviderErrorCountsNoTryAndDelaysItsCalls) {
  without_fallback();
  for (const auto kind : {Trouble::Kind::rate_limited, Trouble::Kind::quota, Trouble::Kind::auth,
                          Trouble::Kind::setup, Trouble::Kind::canceled}) {
    provider.requests.clear();
    every_plan(Plan::fails(kind));
    turn(chat, 1, std::string(agent::kind_name(kind)));
    for (int i = 0; i < 60; ++i) wait(1s);
    EXPECT_LE(provider.requests.size(), 8u) << agent::kind_name(kind);
    EXPECT_GE(provider.requests.size(), 2u) << agent::kind_name(kind);
    EXPECT_EQ(m.rows("SELECT DISTINCT status, retry_count FROM pending_messages WHERE status <> 'processed'"),
              (Lines{"pending|0"}));
    every_plan(Plan::learns("x"));
    for (int i = 0; i < 6; ++i) wait(1min);
    EXPECT_EQ(queue(), (Lines{"processed|0|-"}));
  }
}

TEST_F(AgentTest, ABadRequestFailsTheMessageThatMakesItAndNoOther) {
  provider.script = [](SessionId, const Request& request) {
    if (request.text.find("$ bad message") != std::string::npos)
      return Plan::fails(Trouble::Kind::rejected, "too long");
    return Plan::learns_each(request);
  };
  m.deliver(chat.prompt("work"));
  m.deliver(chat.ran("make", "t1"));
  m.deliver(chat.ran("bad message", "t2"));
  m.deliver(chat.stop());
  must(m.drain());
  for (int i = 0; i < 30; ++i) wait(1min);
  EXPECT_EQ(m.rows("SELECT tool_name, status, last_error FROM pending_messages ORDER BY id"),
            (Lines{"Bash|processed|-", "Bash|failed|rejected: too long", "-|processed|-"}));
  const auto event =
      must(store::kept_event(m.db(), m.number("SELECT seq FROM events WHERE tool_use_id = 't2'")));
  ASSERT_TRUE(event && event->texts.input);
  EXPECT_NE(event->texts.input->find("bad message"), std::string::npos);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations"), 2);
}

TEST_F(AgentTest, AReplyWithNothingUsableIsNotSuccess) {
  every_plan(Plan::says("All good, I have noted everything."));
  turn(chat);
  const std::string why = "rejected: the reply has nothing usable: All good, I have noted everything.";
  EXPECT_EQ(queue(), (Lines{"pending|1|" + why}));
  EXPECT_EQ(must(m.run("queue.show", Json::object({{"id", 1}})))["last_error"].as_string(), why);
  every_plan(Plan{});  // says that there is nothing to learn
  wait(1min);
  EXPECT_EQ(queue(), (Lines{"processed|1|-"}));
  EXPECT_EQ(observations(), Lines{});
}

TEST_F(AgentTest, TheEndOfASessionEndsItsConversationIdleOrBusy) {
  turn(chat);
  EXPECT_EQ(provider.open, 1);
  m.tell(chat.end());
  EXPECT_EQ(provider.open, 0);
  Plan plan = Plan::learns("slow");
  plan.reply_after = 10s;
  every_plan(plan);
  turn(other);
  EXPECT_EQ(provider.open, 1);
  const std::size_t before = provider.starts.size();
  m.tell(other.end());
  // What was in work is sent again in a conversation of its own, which ends with it.
  EXPECT_EQ(provider.starts.size(), before + 1);
  EXPECT_EQ(provider.open, 1);
  wait(10s);
  EXPECT_EQ(provider.open, 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE title = 'slow'"), 1);
  EXPECT_EQ(queue(), (Lines{"processed|0|-"}));
}

TEST_F(AgentTest, AnIdleConversationEndsAndTheOldestMakesRoom) {
  turn(chat);
  wait(9min);
  EXPECT_EQ(provider.open, 1);
  wait(1min);
  EXPECT_EQ(provider.open, 0);
  for (int i = 0; i < 7; ++i) {
    Chat one;
    one.session = "session " + std::to_string(i);
    turn(one);
    EXPECT_LE(provider.open, 4);
  }
  EXPECT_EQ(provider.open, 4);
}

TEST_F(AgentTest, AStopPutsWhatIsInWorkBackAndCountsNoTry) {
  Plan plan = Plan::learns("slow");
  plan.reply_after = 10s;
  every_plan(plan);
  turn(chat);
  EXPECT_TRUE(m.engine->awaits());
  must(m.engine->stop());
  EXPECT_EQ(provider.open, 0);
  EXPECT_EQ(queue(), (Lines{"pending|0|the daemon ended"}));
}

TEST_F(AgentTest, WhatWaitsForARetryIsRememberedOverARestart) {
  every_plan(Plan::fails(Trouble::Kind::transient));
  turn(chat);
  turn(other);
  every_plan(Plan::learns("one"));
  must(m.open());
  must(m.drain());
  for (int i = 0; i < 10 && m.engine->wake_at(); ++i) {
    m.clock.advance(
        std::chrono::nanoseconds(std::max<std::int64_t>(0, *m.engine->wake_at() - m.clock.boot_ns())));
    must(m.drain());
    if (m.number("SELECT count(*) FROM pending_messages WHERE status = 'pending'") == 0) break;
  }
  EXPECT_EQ(m.rows("SELECT DISTINCT status FROM pending_messages"), (Lines{"processed"}));
}

TEST_F(AgentTest, TheWorkerSaysWhenItWantsToBeCalledAgain) {
  must(m.drain());
  EXPECT_EQ(m.engine->wake_at(), std::nullopt);
  Plan plan = Plan::learns("one");
  plan.id_after = 250ms;
  every_plan(plan);
  turn(chat);
  // step() is called only at wake_at(): the reply is stored as soon as possible.
  for (int i = 0; i < 10 && observations().empty(); ++i) {
    ASSERT_TRUE(m.engine->wake_at());
    m.clock.advance(std::chrono::nanoseconds(*m.engine->wake_at() - m.clock.boot_ns()));
    must(m.drain());
  }
  EXPECT_EQ(observations(), (Lines{"memory-1|one"}));
}

TEST_F(AgentTest, AMessageThatWaitsForAnIdIsShownAsWaitingAndForHowLong) {
  Plan plan = Plan::learns("one");
  plan.id_after.reset();
  every_plan(plan);
  turn(chat);
  const auto shown = [&] {
    const Json message = must(m.run("queue.show", Json::object({{"id", 1}})));
    return fmt::format("{} {} {}", message["status"].as_string(), message["reason"].as_string("-"),
                       message["retry_after_ms"].as_int(-1));
  };
  EXPECT_EQ(shown(), "pending awaiting_memory_session_id 100");
  m.clock.advance(40ms);
  EXPECT_EQ(shown(), "pending awaiting_memory_session_id 60");
  wait(60ms);
  EXPECT_EQ(shown(), "pending awaiting_memory_session_id 200");
  for (int i = 0; i < 30; ++i) wait(100ms);
  EXPECT_EQ(shown().find("pending awaiting_memory_session_id "), 0u);  // back in the queue
  EXPECT_EQ(m.text("SELECT DISTINCT status FROM pending_messages"), "pending");
  every_plan(Plan::learns("one"));
  wait(10s);
  EXPECT_EQ(shown(), "processed - -1");
}

TEST_F(AgentTest, AQueueBeyondItsLimitRaisesAnAlarmUntilItIsWorkedOff) {
  without_fallback();
  every_plan(Plan::fails(Trouble::Kind::quota));
  turn(chat);
  must(m.db().exec(
      "INSERT INTO events(event_id, session_db_id, name, kind, outcome, created_at_epoch, taken_in_at_epoch) "
      "WITH "
      "RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT 'event ' || i, 1, "
      "'PostToolUse', 'tool', 'stored', 0, 0 FROM n"));
  must(m.db().exec(
      "INSERT INTO pending_messages(event_seq, session_db_id, content_session_id, message_type, "
      "created_at_epoch) SELECT seq, 1, 'x', 'observation', 0 FROM events WHERE event_id GLOB 'event *'"));
  must(m.engine->tick());
  must(m.engine->tick());
  EXPECT_TRUE(m.log.has("queue alarm=on depth=5002 limit=5000"));
  EXPECT_EQ(m.log.all().find("alarm=on"), m.log.all().rfind("alarm=on"));  // once
  EXPECT_NE(must(m.run("status"))["problems"].dump().find("5002 messages are pending in the queue"),
            std::string::npos);
  every_plan(Plan{});
  for (int i = 0; i < 5; ++i) wait(1min);
  must(m.engine->tick());
  EXPECT_TRUE(m.log.has("queue alarm=off depth=0"));
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
}

}  // namespace
}  // namespace cairn::test
