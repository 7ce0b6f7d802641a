// Which events get context, how much of it, and what the receipts say.
#include <gtest/gtest.h>

#include "hook/control.h"
#include "ops/settings.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class Answers : public testing::Test {
 protected:
  Answers() {
    must(m.open());
    me.session = "the-asking-session";
  }

  // Another session of the project does something and ends.
  void work(const std::string& request) {
    Chat chat;
    chat.session = "worker-" + std::to_string(++workers_);
    m.clock.advance(std::chrono::minutes(1));
    m.tell(chat.start());
    m.tell(chat.prompt(request));
    m.tell(chat.stop("Done with " + request + "."));
    m.tell(chat.end());
    m.clock.advance(std::chrono::minutes(1));
  }
  std::string start(std::string_view source, bool confirm = true) {
    m.clock.advance(std::chrono::seconds(10));
    return Machine::context_of(m.ask(me.start(source), confirm));
  }
  void set(std::string_view key, std::string_view value) {
    must(ops::set_setting(m.disk, m.home, key, value));
    m.engine->reload();
  }

  Machine m;
  Chat me;

 private:
  int workers_ = 0;
};

TEST_F(Answers, TheFirstSessionOfAProjectShowsThatItIsRecorded) {
  const Json line = must(Json::parse(m.ask(me.start()).line));
  EXPECT_EQ(line["systemMessage"].as_string(), "cairn: recording; nothing remembered here yet");
  EXPECT_FALSE(line.has("hookSpecificOutput"));
  EXPECT_EQ(m.ask(me.prompt("hello")).line, hook::kFixedAnswer);
}

TEST_F(Answers, NoNoticeForASourceThatIsOff) {
  set("context.sources", R"(["resume"])");
  EXPECT_EQ(m.ask(me.start()).line, hook::kFixedAnswer);
  set("context.notice", "off");
  set("context.sources", R"(["startup"])");
  me.session = "another";
  EXPECT_EQ(m.ask(me.start()).line, hook::kFixedAnswer);
}

TEST_F(Answers, TheNoticeSaysJustNowAndQuotesNoEmptyRequest) {
  work("fix the lexer");
  must(m.db().run("UPDATE session_summaries SET request = '', created_at_epoch = ?",
                  epoch_ms(m.clock.now()) - 5'000));
  const std::string notice(must(Json::parse(m.ask(me.start()).line))["systemMessage"].as_string());
  EXPECT_TRUE(notice.starts_with("cairn: last session just now · ")) << notice;
}

TEST_F(Answers, TheNextSessionSeesTheLastSummaryAtOnce) {
  work("fix the lexer");
  const context::Answer answer = m.ask(me.start());
  const Json line = must(Json::parse(answer.line));
  EXPECT_EQ(line["hookSpecificOutput"]["hookEventName"].as_string(), "SessionStart");
  EXPECT_TRUE(has(Machine::context_of(answer), "fix the lexer"));
  EXPECT_TRUE(line["continue"].as_bool());
  EXPECT_TRUE(
      has(std::string(line["systemMessage"].as_string()), "cairn: last session 1 min ago \"fix the lexer\""))
      << line["systemMessage"].as_string();
}

TEST_F(Answers, ContextIncludesEventsThatStillWaitInTheInbox) {
  Chat chat;
  for (const HookCall& call : {chat.start(), chat.prompt("cold start"), chat.stop("All done."), chat.end()})
    m.deliver(call);
  EXPECT_TRUE(has(Machine::context_of(m.ask(me.start())), "cold start"));
}

TEST_F(Answers, OtherEventsGetNothing) {
  work("something");
  for (const char* event : {"PreToolUse", "PostToolUse", "Stop", "SessionEnd", "Notification", "Unheard"})
    EXPECT_EQ(m.ask(me.call(event)).line, hook::kFixedAnswer) << event;
  EXPECT_EQ(m.number("SELECT count(*) FROM injections"), 0);
}

TEST_F(Answers, AfterACompactionTheCommandsAndDecisionsThatItsSummaryDropsComeBack) {
  m.tell(me.start());
  m.tell(me.prompt("make the check pass"));
  m.tell(me.tool_failure("Bash", "t1", Json::object({{"command", "make check SUITE=fast"}}),
                         "Exit code 2\nlexer.cpp:3: error: expected a semicolon"));
  m.tell(me.wrote("lexer.cpp", "t2"));
  m.tell(me.ran("make check SUITE=fast", "t3"));
  m.tell(me.stop(
      "It passes. We decided to keep the tokens in one vector instead of a list, because it is faster."));
  const std::int64_t session = m.number("SELECT id FROM sdk_sessions");
  const auto compaction = [&](const std::string& text) {
    must(m.db().run("DELETE FROM texts WHERE kind = 'compaction'"));
    must(m.db().run(
        "INSERT INTO texts(session_db_id, project, prompt_number, kind, source, text, hash, "
        "created_at_epoch) SELECT id, project, 1, 'compaction', 'hook', ?1, ?1, last_event_at_epoch + "
        "1 FROM sdk_sessions WHERE id = ?2",
        text, session));
  };
  EXPECT_FALSE(has(start("compact"), "Before the compaction")) << "no summary of one";
  compaction("The user wants the check to pass.");
  const std::string given = start("compact");
  EXPECT_TRUE(has(given, "# Before the compaction")) << given;
  EXPECT_TRUE(has(given, "'make check SUITE=fast' passed")) << given;
  compaction(
      "The user ran make check SUITE=fast, which passed. The tokens are kept in one vector instead of a "
      "list, decided because it is faster.");
  EXPECT_FALSE(has(start("compact"), "SUITE=fast' passed.")) << "the summary has it";
}

TEST_F(Answers, EverySourceGetsWhatTheContractSays) {
  work("one");
  for (const char* source : {"startup", "clear", "compact", "", "never-heard-of"}) {
    me.session = std::string("session-") + source;
    EXPECT_TRUE(has(start(source), "\u00b7 one")) << source;
    EXPECT_TRUE(has(start(source), "\u00b7 one")) << source << ", again";
  }
  me.session = "resumed-but-never-given";
  EXPECT_TRUE(has(start("resume"), "\u00b7 one"));
  EXPECT_EQ(start("resume"), "");
}

TEST_F(Answers, AResumeGetsOnlyWhatIsNew) {
  work("one");
  start("startup");
  EXPECT_EQ(start("resume"), "");
  work("two");
  const std::string given = start("resume");
  EXPECT_TRUE(has(given, "\u00b7 two"));
  EXPECT_FALSE(has(given, "\u00b7 one"));
  EXPECT_EQ(start("resume"), "");
}

TEST_F(Answers, AResumeIsNotGivenASessionAgainThatWasMerelyResumed) {
  Chat other;
  other.session = "another-session";
  m.tell(other.start());
  m.tell(other.prompt("one"));
  m.tell(other.wrote("one.txt", "t1"));
  m.tell(other.stop());
  m.tell(other.end());
  start("startup");
  m.clock.advance(std::chrono::minutes(5));
  m.tell(other.start("resume"));
  m.tell(other.end());
  must(m.run("sessions.summarize", Json::object({{"id", other.session}})));
  EXPECT_EQ(start("resume"), "");
  m.clock.advance(std::chrono::minutes(5));
  m.tell(other.start("resume"));
  m.tell(other.stop("It changed after all."));
  EXPECT_TRUE(has(start("resume"), "It changed after all."));
}

TEST_F(Answers, TheNewestSummaryIsTheOneWhoseTurnEndedLast) {
  Chat slow, quick;
  slow.session = "began-first-ended-last";
  quick.session = "in-between";
  m.tell(slow.start());
  m.tell(slow.prompt("the long task"));
  m.tell(slow.wrote("a.txt", "t1"));
  m.clock.advance(std::chrono::minutes(1));
  m.ask(quick.start());  // gives the long task an interim summary
  m.tell(quick.prompt("the short task"));
  m.tell(quick.wrote("b.txt", "t2"));
  m.tell(quick.stop());
  m.clock.advance(std::chrono::minutes(1));
  m.tell(slow.stop("The long task is done."));
  EXPECT_EQ(m.text("SELECT request FROM session_summaries ORDER BY created_at DESC, id DESC LIMIT 1"),
            "the long task");
  const Json line = must(Json::parse(m.ask(me.start()).line));
  EXPECT_TRUE(has(std::string(line["systemMessage"].as_string()), "\"the long task\"")) << line.dump();
}

TEST_F(Answers, AResumeIsNotGivenItsOwnTurns) {
  work("one");
  start("startup");
  m.tell(me.prompt("my own words"));
  m.tell(me.stop());
  m.tell(me.end());
  EXPECT_EQ(start("resume"), "");
}

TEST_F(Answers, AResumeThatWasNeverConfirmedGetsItAgain) {
  work("one");
  start("startup", false);
  EXPECT_TRUE(has(start("resume"), "\u00b7 one"));
}

TEST_F(Answers, ACompactionForgetsWhatWasGiven) {
  work("one");
  start("startup");
  EXPECT_TRUE(has(start("compact"), "\u00b7 one"));
}

TEST_F(Answers, ACompactionInTheMiddleOfATurnIsGivenThatTurn) {
  start("startup");
  m.tell(me.prompt("the request in hand"));
  m.tell(me.wrote("half-done.txt", "t1"));
  const std::string given = start("compact");
  EXPECT_TRUE(has(given, "the request in hand")) << given;
  EXPECT_TRUE(has(given, "half-done.txt")) << given;
}

TEST_F(Answers, ASettingLimitsTheSourcesThatGetContext) {
  set("context.sources", R"(["startup", "resume"])");
  work("one");
  EXPECT_TRUE(has(start("startup"), "\u00b7 one"));
  EXPECT_EQ(start("clear"), "");
  EXPECT_EQ(start("compact"), "");
  set("context.sources", "[]");
  for (const char* source : {"startup", "resume", "clear", "compact"}) EXPECT_EQ(start(source), "") << source;
}

TEST_F(Answers, ContextThatMissedItsStartIsGivenWithTheNextPrompt) {
  work("one");
  start("startup", false);  // composed, but the hook never said that it printed it
  const context::Answer late = m.ask(me.prompt("hello"));
  EXPECT_TRUE(has(Machine::context_of(late), "\u00b7 one"));
  EXPECT_EQ(must(Json::parse(late.line))["hookSpecificOutput"]["hookEventName"].as_string(),
            "UserPromptSubmit");
  EXPECT_FALSE(has(Machine::context_of(late), "hello"));
}

TEST_F(Answers, ContextThatNoHookAskedForIsGivenWithTheNextPrompt) {
  work("one");
  m.tell(me.start());  // its hook ran out of time before it could ask
  EXPECT_TRUE(has(Machine::context_of(m.ask(me.prompt("hello"))), "\u00b7 one"));
}

TEST_F(Answers, NothingIsGivenTwiceOnceItWasConfirmed) {
  work("one");
  start("startup");
  EXPECT_EQ(m.ask(me.prompt("hello")).line, hook::kFixedAnswer);
  EXPECT_EQ(m.ask(me.prompt("again")).line, hook::kFixedAnswer);
}

TEST_F(Answers, ContextGivenWithAPromptIsNotGivenAgain) {
  work("one");
  start("startup", false);
  EXPECT_TRUE(has(Machine::context_of(m.ask(me.prompt("hello"))), "\u00b7 one"));
  EXPECT_EQ(m.ask(me.prompt("again")).line, hook::kFixedAnswer);
}

TEST_F(Answers, APromptWithoutAStartGetsNothing) {
  work("one");
  EXPECT_EQ(m.ask(me.prompt("hello")).line, hook::kFixedAnswer);
}

TEST_F(Answers, AHookRegisteredTwiceIsAnsweredOnce) {
  work("one");
  EXPECT_TRUE(has(Machine::context_of(m.ask(me.start())), "\u00b7 one"));
  EXPECT_EQ(m.ask(me.start()).line, hook::kFixedAnswer);
}

TEST_F(Answers, TheContextOperationPrintsTheSameBytes) {
  work("one");
  work("two");
  const std::string shown(must(m.run("context", Json::object({{"project", "proj"}})))["text"].as_string());
  EXPECT_EQ(start("startup"), shown);
  EXPECT_EQ(std::string(must(m.run("context", Json::object({{"cwd", me.cwd}})))["text"].as_string()), shown);
}

TEST_F(Answers, TheReceiptSaysWhatWasGiven) {
  work("one");
  start("startup");
  EXPECT_EQ(
      m.rows("SELECT event_name, source, items, given_at_epoch IS NOT NULL, characters > 100, tokens > 30 "
             "FROM injections"),
      (Lines{R"(SessionStart|startup|["S1"]|1|1|1)"}));
}

TEST_F(Answers, TheNoticeCanBeSilenced) {
  set("context.notice", "off");
  work("one");
  EXPECT_FALSE(must(Json::parse(m.ask(me.start()).line)).has("systemMessage"));
}

TEST_F(Answers, ABudgetOfNothingGivesNothing) {
  set("context.budget_tokens", "0");
  work("one");
  EXPECT_EQ(start("startup"), "");
}

TEST_F(Answers, WarningsAreShownOnce) {
  m.put_file(m.home.inbox() + "/failed", "1\n2\n");
  m.put_file(m.home.inbox() + "/new/" + std::string(32, 'a'), "rubbish");
  const std::string notice(must(Json::parse(m.ask(me.start()).line))["systemMessage"].as_string());
  EXPECT_TRUE(has(notice, "2 events could not be written")) << notice;
  EXPECT_TRUE(has(notice, "1 event could not be read")) << notice;
  me.session = "another";
  EXPECT_EQ(must(Json::parse(m.ask(me.start()).line))["systemMessage"].as_string(),
            "cairn: recording; nothing remembered here yet");
}

TEST_F(Answers, AnEventThatIsStillToComeIsNotWaitedForBeyondTheDeadline) {
  const context::Answer answer =
      must(m.engine->answer(EventId{std::string(32, 'f')}, m.clock.boot_ns() + 1'000'000));
  EXPECT_EQ(answer.line, hook::kFixedAnswer);
}

TEST_F(Answers, AnUnconfirmedWarningIsShownAgain) {
  m.put_file(m.home.inbox() + "/failed", "1\n2\n");
  const auto notice = [&](const HookCall& call, bool confirm) {
    return std::string(must(Json::parse(m.ask(call, confirm).line))["systemMessage"].as_string());
  };
  EXPECT_TRUE(has(notice(me.start(), false), "2 events could not be written"));
  EXPECT_TRUE(has(notice(me.prompt("go on"), false), "2 events could not be written"));
  me.session = "another";
  EXPECT_TRUE(has(notice(me.start(), true), "2 events could not be written"));
  me.session = "a third";
  EXPECT_FALSE(has(notice(me.start(), true), "could not be written"));
}

}  // namespace
}  // namespace cairn::test
