// Sessions and turns whose host died or that are idle for long, and interim summaries.
#include <gtest/gtest.h>

#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;
using std::chrono::hours;
using std::chrono::minutes;

class Sweep : public testing::Test {
 protected:
  Sweep() { must(m.open()); }

  Lines sessions() {
    return m.rows("SELECT status, coalesce(end_reason, '-') FROM sdk_sessions ORDER BY id");
  }
  Lines turns() {
    return m.rows("SELECT prompt_number, coalesce(end_reason, 'open') FROM turns ORDER BY session_db_id, 1");
  }

  Machine m;
  Chat chat;
};

TEST_F(Sweep, ASessionWhoseHostDiedInATurnIsFailed) {
  m.tell(chat.prompt("work"));
  m.tell(chat.wrote("a.txt", "t1"));
  m.processes.kill(m.host.pid);
  must(m.engine->tick());
  EXPECT_EQ(sessions(), (Lines{"failed|dead_host"}));
  EXPECT_EQ(turns(), (Lines{"1|dead_host"}));
  EXPECT_EQ(m.rows("SELECT request, interim, files_edited FROM session_summaries"),
            (Lines{R"(work|0|["a.txt"])"}));
}

TEST_F(Sweep, ADeadHostWithoutAnOpenTurnCompleted) {
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  m.processes.kill(m.host.pid);
  must(m.engine->tick());
  EXPECT_EQ(sessions(), (Lines{"completed|dead_host"}));
  EXPECT_EQ(turns(), (Lines{"1|stop"}));
}

TEST_F(Sweep, ALivingHostIsLeftAlone) {
  m.tell(chat.prompt("work"));
  m.clock.advance(minutes(9));
  must(m.engine->tick());
  EXPECT_EQ(sessions(), (Lines{"active|-"}));
  EXPECT_EQ(turns(), (Lines{"1|open"}));
}

TEST_F(Sweep, AKilledHostsSessionEndsAndItsTurnIsSummarisedOnceWhateverItSends) {
  std::vector<std::string> order = {"end", "failure", "kill", "stop", "tool"};
  int sessions = 0;
  do {
    SCOPED_TRACE(testing::PrintToString(order));
    Chat one;
    one.session = "session-" + std::to_string(++sessions);
    m.host = {10'000 + sessions, 1};
    m.tell(one.start());
    m.tell(one.prompt("work"));
    m.tell(one.ran("true", "first"));
    for (const std::string& what : order) {
      if (what == "kill") {
        m.processes.kill(m.host.pid);
        must(m.engine->tick());
      } else {
        m.tell(what == "stop"      ? one.stop()
               : what == "failure" ? one.stop_failure()
               : what == "end"     ? one.end()
                                   : one.ran("make", "late"));
      }
    }
    must(m.engine->tick());
    must(m.drain());
    const std::string id =
        m.text("SELECT id FROM sdk_sessions WHERE content_session_id = '" + one.session + "'");
    const std::string of = " WHERE session_db_id = " + id;
    const std::string end = m.text("SELECT coalesce(end_reason, 'open') FROM turns" + of);
    const bool answered = end == "stop";
    EXPECT_TRUE(answered || end == "stop_failure") << end;  // the last end that the host reported counts
    EXPECT_EQ(m.text("SELECT status FROM sdk_sessions WHERE id = " + id), answered ? "completed" : "failed");
    EXPECT_EQ(m.number("SELECT count(*) FROM turns" + of), 1);
    EXPECT_EQ(
        m.number(
            "SELECT count(*) FROM session_summaries WHERE memory_session_id = (SELECT memory_session_id FROM "
            "sdk_sessions WHERE id = " +
            id + ")"),
        1);
    EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages" + of + " AND status = 'processed'"), 4);
    EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages" + of), 4);
    must(m.db().run("DELETE FROM pending_messages"));  // so that none is cleaned away unseen
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(sessions, 120);
}

TEST_F(Sweep, AnEndedSessionIsNotEndedAgainByItsDeadHost) {
  m.tell(chat.prompt("work"));
  m.tell(chat.end("prompt_input_exit"));
  const Lines before = m.rows("SELECT status, end_reason, completed_at FROM sdk_sessions");
  m.processes.kill(m.host.pid);
  m.clock.advance(hours(1));
  must(m.engine->tick());
  EXPECT_EQ(m.rows("SELECT status, end_reason, completed_at FROM sdk_sessions"), before);
}

TEST_F(Sweep, AHostOfAnEarlierBootIsDead) {
  m.tell(chat.prompt("work"));
  m.clock.reboot("fedcba9876543210fedcba9876543210");
  must(m.engine->tick());
  EXPECT_EQ(sessions(), (Lines{"failed|dead_host"}));
}

TEST_F(Sweep, ATurnIsIdleAfterTenMinutes) {
  m.tell(chat.prompt("work"));
  m.tell(chat.ran("make", "t1"));
  m.clock.advance(minutes(10) + Millis(1));
  must(m.engine->tick());
  EXPECT_EQ(turns(), (Lines{"1|idle"}));
  EXPECT_EQ(sessions(), (Lines{"active|-"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries WHERE interim = 0"), 1);
  // The turn was not over: later events belong to it, and its Stop event decides how it ended.
  m.tell(chat.wrote("late.txt", "t2"));
  m.tell(chat.stop("Now it is done."));
  EXPECT_EQ(turns(), (Lines{"1|stop"}));
  EXPECT_EQ(m.text("SELECT files_edited FROM session_summaries"), R"(["late.txt"])");
}

TEST_F(Sweep, ASessionOfAnUnknownHostIsForgottenAfterADay) {
  m.host = {};
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  m.clock.advance(hours(23));
  must(m.engine->tick());
  EXPECT_EQ(sessions(), (Lines{"active|-"}));
  m.clock.advance(hours(2));
  must(m.engine->tick());
  EXPECT_EQ(sessions(), (Lines{"completed|dead_host"}));
}

TEST_F(Sweep, AClockGoingBackwardsExpiresNothing) {
  m.host = {};
  m.tell(chat.prompt("work"));
  m.clock.set_wall(m.clock.now() - hours(1000));
  must(m.engine->tick());
  EXPECT_EQ(sessions(), (Lines{"active|-"}));
  EXPECT_EQ(turns(), (Lines{"1|open"}));
  m.tell(chat.wrote("a.txt", "t1"));
  m.tell(chat.stop());
  m.tell(chat.end());
  EXPECT_EQ(sessions(), (Lines{"completed|other"}));
  EXPECT_EQ(m.number("SELECT last_event_at_epoch >= started_at_epoch FROM sdk_sessions"), 1);
}

TEST_F(Sweep, AnotherSessionsStartGivesAnOpenTurnAnInterimSummaryAndItsEndReplacesIt) {
  m.tell(chat.prompt("long work"));
  m.tell(chat.wrote("begun.txt", "t1"));
  Chat next;
  next.session = "the-next-one";
  const std::string given = Machine::context_of(m.ask(next.start()));
  EXPECT_NE(given.find("long work"), std::string::npos);
  EXPECT_NE(given.find("still running"), std::string::npos);
  EXPECT_EQ(turns(), (Lines{"1|open"}));
  const std::string row = m.text("SELECT id || ' ' || uuid FROM session_summaries WHERE interim = 1");
  EXPECT_NE(row, "");
  m.tell(chat.wrote("finished.txt", "t2"));
  m.tell(chat.stop("All of it."));
  EXPECT_EQ(m.text("SELECT id || ' ' || uuid FROM session_summaries WHERE interim = 0"), row);
  EXPECT_EQ(m.text("SELECT files_edited FROM session_summaries"), R"(["begun.txt","finished.txt"])");
}

TEST_F(Sweep, AnotherSessionsStartFindsTheDeadHostAtOnce) {
  m.tell(chat.prompt("doomed work"));
  m.processes.kill(m.host.pid);
  m.host = {4243, 88};
  Chat next;
  next.session = "the-next-one";
  const std::string given = Machine::context_of(m.ask(next.start()));
  EXPECT_NE(given.find("interrupted (its process died)"), std::string::npos) << given;
  EXPECT_EQ(sessions(), (Lines{"failed|dead_host", "active|-"}));
}

TEST_F(Sweep, AnotherSessionsStartEndsADeadOneLikeTheMinutesSweep) {
  HookCall prompt = chat.prompt("doomed work");
  prompt.payload.set("transcript_path", "/home/dev/doomed.jsonl");
  m.tell(prompt);
  m.processes.kill(m.host.pid);
  m.host = {4243, 88};
  Chat next;
  next.session = "the-next-one";
  m.ask(next.start());
  EXPECT_TRUE(m.log.has("session ended session=" + chat.session + " reason=dead_host")) << m.log.all();
  EXPECT_EQ(m.rows("SELECT content_session_id, cause, reason FROM backup_requests"),
            Lines{chat.session + "|end|dead_host"});
}

TEST_F(Sweep, ATurnThatBeganAfterItsSessionEndedLeavesTheReasonOfTheEnd) {
  m.tell(chat.prompt("work"));
  m.tell(chat.end("prompt_input_exit"));
  chat.prompt("a prompt that is lost");
  m.tell(chat.wrote("a.txt", "t1"));
  ASSERT_EQ(turns(), (Lines{"1|session_end", "2|open"}));
  m.processes.kill(m.host.pid);
  m.host = {4243, 88};
  Chat next;
  next.session = "the-next-one";
  m.ask(next.start());
  EXPECT_EQ(turns(), (Lines{"1|session_end", "2|dead_host"}));
  EXPECT_EQ(sessions(), (Lines{"failed|prompt_input_exit", "active|-"}));
}

TEST_F(Sweep, OtherProjectsStartsLeaveAnOpenTurnAlone) {
  m.tell(chat.prompt("long work"));
  Chat next;
  next.session = "elsewhere";
  next.cwd = "/home/dev/code/other";
  m.ask(next.start());
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 0);
}

TEST_F(Sweep, ProcessWaitEndsEveryTurnAndLeavesNothingPending) {
  Chat other;
  other.session = "other";
  m.tell(chat.prompt("one"));
  m.tell(chat.ran("make", "t1"));
  m.tell(other.prompt("two"));
  m.tell(other.ran("make", "t2"));
  must(m.engine->end_open_turns());
  must(m.drain());
  EXPECT_EQ(turns(), (Lines{"1|process", "1|process"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status <> 'processed'"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2);
}

}  // namespace
}  // namespace cairn::test
