// Sessions and turns: what any event, in any order, makes of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

class Turns : public testing::Test {
 protected:
  Turns() { must(m.open()); }

  std::string status() { return m.text("SELECT status FROM sdk_sessions"); }
  Lines turns() { return m.rows("SELECT prompt_number, coalesce(end_reason, 'open') FROM turns ORDER BY 1"); }
  Lines prompts() { return m.rows("SELECT prompt_number, prompt_text FROM user_prompts ORDER BY 1"); }

  Machine m;
  Chat chat;
};

TEST_F(Turns, AnyEventMakesItsSession) {
  for (const char* event :
       {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop",
        "StopFailure", "SessionEnd", "SubagentStart", "Notification", "Nonsense"}) {
    SCOPED_TRACE(event);
    Chat other;
    other.session = std::string("session-of-") + event;
    m.tell(other.call(event));
    EXPECT_EQ(
        m.number("SELECT count(*) FROM sdk_sessions WHERE content_session_id = '" + other.session + "'"), 1);
  }
}

TEST_F(Turns, RepeatedEventsKeepTheSessionAndItsIds) {
  m.tell(chat.start());
  m.tell(chat.prompt("first"));
  m.tell(chat.stop());
  const std::string before =
      m.rows("SELECT id, uuid, memory_session_id, started_at, user_prompt FROM sdk_sessions").at(0);
  m.clock.advance(std::chrono::seconds(10));
  m.tell(chat.start("resume"));
  m.tell(chat.prompt("second"));
  EXPECT_EQ(m.rows("SELECT id, uuid, memory_session_id, started_at, user_prompt FROM sdk_sessions").at(0),
            before);
}

TEST_F(Turns, PromptsAreNumberedFromOneInTheirOrder) {
  for (const char* text : {"one", "two", "three"}) {
    m.tell(chat.prompt(text));
    m.tell(chat.stop());
  }
  EXPECT_EQ(prompts(), (Lines{"1|one", "2|two", "3|three"}));
  EXPECT_EQ(turns(), (Lines{"1|stop", "2|stop", "3|stop"}));
  EXPECT_EQ(m.number("SELECT prompt_count FROM sdk_sessions"), 3);
}

TEST_F(Turns, NumbersAreGivenInsideTheTransactionOfAGroup) {
  for (const char* text : {"one", "two", "three"}) m.deliver(chat.prompt(text));
  ASSERT_TRUE(must(m.engine->step()));
  EXPECT_EQ(prompts(), (Lines{"1|one", "2|two", "3|three"}));
  EXPECT_EQ(turns(), (Lines{"1|next_prompt", "2|next_prompt", "3|open"}));
}

TEST_F(Turns, APromptWithoutAnIdOpensATurnToo) {
  Chat plain;
  m.tell(plain.call("UserPromptSubmit", {{"prompt", "one"}}));
  m.tell(plain.wrote("a.txt", "t1"));
  m.tell(plain.call("UserPromptSubmit", {{"prompt", "two"}}));
  EXPECT_EQ(prompts(), (Lines{"1|one", "2|two"}));
  EXPECT_EQ(m.number("SELECT prompt_number FROM events WHERE tool_use_id = 't1'"), 1);
}

TEST_F(Turns, AToolEventBeforeItsPromptOpensTheTurnThatThePromptFills) {
  chat.prompt_id = "p1";
  m.tell(chat.wrote("early.txt", "t1"));
  EXPECT_EQ(turns(), (Lines{"1|open"}));
  EXPECT_EQ(prompts(), Lines{});
  m.tell(chat.prompt("late prompt", "p1"));
  EXPECT_EQ(turns(), (Lines{"1|open"}));
  EXPECT_EQ(prompts(), (Lines{"1|late prompt"}));
  m.tell(chat.stop());
  EXPECT_EQ(m.rows("SELECT prompt_number, request, files_edited FROM session_summaries"),
            (Lines{R"(1|late prompt|["early.txt"])"}));
}

TEST_F(Turns, ALateToolEventJoinsTheTurnOfItsPromptAndItsSummary) {
  m.tell(chat.prompt("one"));
  const HookCall late = chat.wrote("late.txt", "t1");
  m.tell(chat.stop());
  m.tell(chat.prompt("two"));
  m.tell(late);
  m.tell(chat.stop());
  EXPECT_EQ(m.number("SELECT prompt_number FROM events WHERE tool_use_id = 't1'"), 1);
  EXPECT_EQ(m.rows("SELECT prompt_number, files_edited FROM session_summaries ORDER BY 1"),
            (Lines{R"(1|["late.txt"])", "2|[]"}));
}

TEST_F(Turns, ATaskNotificationIsNotTheUserAndGoesOnWithTheTurn) {
  m.tell(chat.prompt("start a job"));
  m.tell(chat.stop("It runs."));
  EXPECT_EQ(turns(), (Lines{"1|stop"}));
  m.tell(chat.prompt("<task-notification>\n<task-id>b1</task-id></task-notification>", "p-notification"));
  EXPECT_EQ(turns(), (Lines{"1|open"}));
  EXPECT_EQ(prompts(), (Lines{"1|start a job"}));
  m.tell(chat.wrote("after.txt", "t1"));
  m.tell(chat.stop("The job is done."));
  EXPECT_EQ(turns(), (Lines{"1|stop"}));
  EXPECT_EQ(m.rows("SELECT prompt_number, request, files_edited FROM session_summaries"),
            (Lines{R"(1|start a job|["after.txt"])"}));
  EXPECT_EQ(m.text("SELECT last_assistant_message FROM turns"), "The job is done.");
}

TEST_F(Turns, ATaskNotificationJoinsTheTurnOfWorkThatOvertookIt) {
  const std::string note = "<task-notification>\n<task-id>b1</task-id></task-notification>";
  chat.prompt_id = "p-notification";
  m.tell(chat.stop("The job is done."));
  m.tell(chat.prompt("start a job", "p-job"));
  m.tell(chat.stop("It runs."));
  m.tell(chat.prompt(note, "p-notification"));
  EXPECT_EQ(m.rows("SELECT name, prompt_number FROM events WHERE prompt_id = 'p-notification' ORDER BY seq"),
            (Lines{"Stop|1", "UserPromptSubmit|1"}));
  EXPECT_EQ(turns(), (Lines{"1|stop", "2|stop"}));
  EXPECT_EQ(prompts(), (Lines{"2|start a job"}));
}

// The state of a session after its last events, in any order.
struct Ending {
  std::string name;
  std::vector<std::string> calls;  // of: stop, failure, end, tool
  std::string status;
};

HookCall call_of(const Chat& chat, const std::string& what, int n) {
  if (what == "stop") return chat.stop();
  if (what == "failure") return chat.stop_failure();
  if (what == "end") return chat.end();
  return chat.ran("make", "late-" + std::to_string(n));
}

TEST_F(Turns, StatusFollowsTheTableInEveryOrder) {
  const std::vector<Ending> endings = {
      {"stopped and ended", {"stop", "end"}, "completed"},
      {"failed and ended", {"failure", "end"}, "failed"},
      {"ended within a turn", {"end"}, "failed"},
      {"stopped, ended, late tool", {"stop", "end", "tool"}, "completed"},
      {"failed, ended, late tools", {"failure", "end", "tool", "tool"}, "failed"},
      {"ended within a turn, late tool", {"end", "tool"}, "failed"},
      {"only stopped", {"stop", "tool"}, "active"},
      {"only failed", {"failure", "tool"}, "active"},
  };
  int sessions = 0;
  for (const Ending& ending : endings) {
    std::vector<std::string> order = ending.calls;
    std::sort(order.begin(), order.end());
    do {
      SCOPED_TRACE(ending.name + ": " + testing::PrintToString(order));
      Chat one;
      one.session = "session-" + std::to_string(++sessions);
      m.tell(one.start());
      m.tell(one.prompt("work"));
      m.tell(one.ran("true", "first"));
      for (std::size_t i = 0; i < order.size(); ++i) m.tell(call_of(one, order[i], static_cast<int>(i)));
      const std::string of = " WHERE content_session_id = '" + one.session + "'";
      EXPECT_EQ(m.text("SELECT status FROM sdk_sessions" + of), ending.status);
      EXPECT_EQ(m.number("SELECT prompt_count FROM sdk_sessions" + of), 1);
      EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries WHERE memory_session_id = (SELECT "
                         "memory_session_id FROM sdk_sessions" +
                         of + ")"),
                1);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_F(Turns, ASessionWithoutATurnIsCompleted) {
  m.tell(chat.end());
  EXPECT_EQ(status(), "completed");
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 0);
}

TEST_F(Turns, ASecondSessionEndChangesNothing) {
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  m.tell(chat.end("prompt_input_exit"));
  const Lines before = m.rows("SELECT status, end_reason, completed_at FROM sdk_sessions");
  m.clock.advance(std::chrono::hours(1));
  m.tell(chat.end("other"));
  EXPECT_EQ(m.rows("SELECT status, end_reason, completed_at FROM sdk_sessions"), before);
  EXPECT_EQ(turns(), (Lines{"1|stop"}));
}

TEST_F(Turns, ASessionEndedWhenItsHostSaidSoNotWhenTheEventWasRead) {
  m.tell(chat.prompt("work"));
  m.deliver(chat.end());
  const std::int64_t said = epoch_ms(m.clock.now());
  m.clock.advance(std::chrono::hours(5));
  must(m.drain());
  EXPECT_EQ(m.number("SELECT completed_at_epoch FROM sdk_sessions"), said);
  EXPECT_EQ(m.number("SELECT ended_at_epoch FROM turns"), said);
}

TEST_F(Turns, AResumeMakesTheSessionActiveAgain) {
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  m.tell(chat.end());
  EXPECT_EQ(status(), "completed");
  m.clock.advance(std::chrono::hours(1));
  m.tell(chat.start("resume"));
  EXPECT_EQ(status(), "active");
  EXPECT_EQ(m.rows("SELECT completed_at, completed_at_epoch, end_reason FROM sdk_sessions"),
            (Lines{"-|-|-"}));
  m.tell(chat.end());
  EXPECT_EQ(status(), "completed");
}

TEST_F(Turns, QuickResumesAreNoDuplicates) {
  m.tell(chat.start());
  m.tell(chat.end());
  for (int i = 0; i < 3; ++i) {
    m.tell(chat.start("resume"));
    EXPECT_EQ(status(), "active") << i;
    m.tell(chat.end());
    EXPECT_EQ(status(), "completed") << i;
  }
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'duplicate'"), 0);
}

TEST_F(Turns, APromptReopensButALateEventOnlyAttaches) {
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  m.tell(chat.end());
  m.tell(chat.call("Notification", {{"message", "waiting"}}));
  m.tell(chat.ran("make", "late"));
  EXPECT_EQ(status(), "completed");
  m.tell(chat.prompt("more"));
  EXPECT_EQ(status(), "active");
}

TEST_F(Turns, ClearMakesTwoSessions) {
  m.tell(chat.prompt("before"));
  m.tell(chat.stop());
  m.tell(chat.end("clear"));
  Chat fresh;
  fresh.session = "after-clear";
  m.tell(fresh.start("clear"));
  m.tell(fresh.prompt("after"));
  EXPECT_EQ(
      m.rows("SELECT content_session_id, status, coalesce(end_reason, '-') FROM sdk_sessions ORDER BY id"),
      (Lines{chat.session + "|completed|clear", "after-clear|active|-"}));
  EXPECT_EQ(prompts(), (Lines{"1|before", "1|after"}));
}

TEST_F(Turns, AForkKeepsTheTwoConversationsApart) {
  m.tell(chat.prompt("base"));
  m.tell(chat.stop());
  m.tell(chat.end());
  m.tell(chat.start("resume"));  // the host still names the old id here
  Chat fork;
  fork.session = "the-fork";
  m.tell(fork.prompt("forked"));
  m.tell(fork.wrote("fork.txt", "t1"));
  m.tell(fork.stop());
  m.tell(fork.end());
  EXPECT_EQ(m.rows("SELECT s.content_session_id, u.request FROM session_summaries u JOIN sdk_sessions s ON "
                   "s.memory_session_id = u.memory_session_id ORDER BY u.id"),
            (Lines{chat.session + "|base", "the-fork|forked"}));
}

TEST_F(Turns, AStartInTheMiddleOfATurnEndsItUnlessItIsACompaction) {
  m.tell(chat.prompt("long work"));
  m.tell(chat.start("compact"));
  EXPECT_EQ(turns(), (Lines{"1|open"}));
  m.clock.advance(std::chrono::seconds(10));
  m.tell(chat.start("resume"));
  EXPECT_EQ(turns(), (Lines{"1|session_start"}));
}

TEST_F(Turns, CompactionsOwnSubagentStopIsSkipped) {
  m.tell(chat.prompt("work"));
  m.tell(chat.call("PreCompact", {{"trigger", "manual"}}));
  m.tell(
      chat.call("SubagentStop", {{"agent_id", "a1"}, {"agent_type", ""}, {"last_assistant_message", "sum"}}));
  m.tell(
      chat.call("SubagentStop",
                {{"agent_id", "a2"}, {"agent_type", "general-purpose"}, {"last_assistant_message", "42"}}));
  EXPECT_EQ(m.rows("SELECT outcome FROM events WHERE kind = 'subagent_stop' ORDER BY seq"),
            (Lines{"skipped", "stored"}));
}

TEST_F(Turns, OneSummaryATurnReplacedInPlace) {
  m.tell(chat.prompt("work"));
  m.tell(chat.stop("First."));
  const std::string row = m.text("SELECT id || ' ' || uuid || ' ' || created_at FROM session_summaries");
  m.tell(chat.wrote("late.txt", "t1"));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 1);
  EXPECT_EQ(m.text("SELECT id || ' ' || uuid || ' ' || created_at FROM session_summaries"), row);
  EXPECT_EQ(m.text("SELECT files_edited FROM session_summaries"), R"(["late.txt"])");
}

TEST_F(Turns, TheSummaryIsStoredTogetherWithTheStop) {
  m.tell(chat.prompt("work"));
  m.deliver(chat.stop("All good."));
  ASSERT_TRUE(must(m.engine->step()));  // one transaction, no queue work yet
  EXPECT_EQ(m.text("SELECT completed FROM session_summaries"), "All good.");
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status = 'pending'"), 1);
  EXPECT_TRUE(m.log.has("finalize received session=" + chat.session));
}

TEST_F(Turns, AFailureWithoutANameIsDescribedInTheHostsWords) {
  m.tell(chat.prompt("work"));
  m.tell(chat.stop_failure("unknown"));
  EXPECT_EQ(m.text("SELECT next_steps FROM session_summaries"),
            "The turn ended with an error: API Error: rejected.");
}

TEST_F(Turns, TwoSessionsAtOnceNeverMix) {
  Chat other;
  other.session = "the-other-one";
  m.tell(chat.prompt("mine"));
  m.tell(other.prompt("theirs"));
  m.tell(chat.wrote("mine.txt", "t1"));
  m.tell(other.wrote("theirs.txt", "t1"));
  m.tell(other.stop());
  m.tell(chat.stop());
  EXPECT_EQ(m.rows("SELECT request, files_edited FROM session_summaries ORDER BY request"),
            (Lines{R"(mine|["mine.txt"])", R"(theirs|["theirs.txt"])"}));
}

TEST_F(Turns, SessionsOfTwoHostsWithOneIdNeverMix) {
  Chat other = chat;
  const auto tell_both = [&](const HookCall& mine, const HookCall& theirs) {
    m.platform.clear();
    m.tell(mine);
    m.platform = "codex";
    m.tell(theirs);
  };
  tell_both(chat.prompt("mine", "p"), other.prompt("theirs", "p"));
  tell_both(chat.wrote("mine.txt", "t1"), other.wrote("theirs.txt", "t1"));
  tell_both(chat.stop(), other.stop());
  const Lines expected = {R"(claude-code|mine|["mine.txt"])", R"(codex|theirs|["theirs.txt"])"};
  EXPECT_EQ(
      m.rows("SELECT s.platform, r.request, r.files_edited FROM session_summaries r JOIN sdk_sessions s "
             "USING(memory_session_id) ORDER BY 1"),
      expected);
  EXPECT_EQ(m.rows("SELECT s.platform, o.files_modified FROM observations o JOIN sdk_sessions s "
                   "USING(memory_session_id) ORDER BY 1"),
            (Lines{R"(claude-code|["mine.txt"])", R"(codex|["theirs.txt"])"}));
}

TEST_F(Turns, APrivateTurnIsNotLoggedAsSummarised) {
  m.tell(chat.prompt("<private>all of it</private>"));
  m.tell(chat.stop());
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 0);
  EXPECT_FALSE(m.log.has("summary stored"));
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  EXPECT_TRUE(m.log.has("summary stored"));
}

}  // namespace
}  // namespace cairn::test
