// Recovering events from transcripts: when, how often, and what stays out.
#include <gtest/gtest.h>

#include "catch_up_fixture.h"
#include "ops/settings.h"

namespace cairn::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST_F(CatchUpTest, TakesAMinuteOldCallOfAnActiveSessionAndLeavesAYoungOneToItsHook) {
  begin();
  transcript.wrote("old.txt", "t1");
  m.clock.advance(seconds(50));
  transcript.wrote("young.txt", "t2");
  transcript.save();
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(recovered(), Lines{});
  EXPECT_EQ(ledger()["gap"].as_int(), 0);  // both may still be on their way
  m.clock.advance(seconds(20));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(recovered(), (Lines{"PostToolUse|stored|t1"}));
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-", "t2|waiting|-"}));
  minute();
  EXPECT_EQ(recovered(), (Lines{"PostToolUse|stored|t1", "PostToolUse|stored|t2"}));
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
  EXPECT_EQ(ledger()["recovered"].as_int(), 2);
}

TEST_F(CatchUpTest, ACallThatOnlyATranscriptHasIsAGapUntilItIsRecovered) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.save();
  must(m.engine->tick());
  must(m.drain());
  m.clock.advance(seconds(61));
  EXPECT_EQ(ledger()["gap"].as_int(), 1);
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
}

TEST_F(CatchUpTest, ARunningCallIsLeftAloneAndTakenWhenItsResultIsOld) {
  begin();
  transcript.use("t1", "Bash", Json::object({{"command", "make"}}));
  transcript.save();
  minute();
  minute();
  EXPECT_EQ(recovered(), Lines{});
  transcript.result("t1", Json::object({{"stdout", "ok"}}));
  transcript.save();
  minute();
  EXPECT_EQ(recovered(), (Lines{"PostToolUse|stored|t1"}));
}

TEST_F(CatchUpTest, ADeadHostsLastCallsAreInTheSummaryThatTheNextSessionIsGiven) {
  begin();
  m.tell(chat.wrote("known.txt", "t1"));
  transcript.wrote("known.txt", "t1");
  transcript.wrote("unknown.txt", "t2");
  transcript.use("t3", "Bash", Json::object({{"command", "make everything"}}));
  transcript.save();
  m.processes.kill(m.host.pid);
  m.host = {5555, 78};
  Chat next;
  next.session = "22222222-aaaa-4bbb-8ccc-000000000002";
  const std::string context = Machine::context_of(m.ask(next.start()));
  EXPECT_NE(context.find("unknown.txt"), std::string::npos) << context;
  EXPECT_NE(context.find("make everything"), std::string::npos) << context;
  EXPECT_EQ(recovered(), (Lines{"PostToolUse|stored|t2", "PreToolUse|stored|t3"}));
  EXPECT_EQ(calls(), (Lines{"t1|stored|-", "t2|recovered|-", "t3|recovered|-"}));
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
}

TEST_F(CatchUpTest, AnEndedSessionIsReadAtOnceAndOnceMoreAfterAMinute) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.save();
  m.tell(chat.stop());
  m.tell(chat.end());
  EXPECT_EQ(recovered(), (Lines{"PostToolUse|stored|t1"}));
  transcript.wrote("b.txt", "t2");  // the host was still writing
  transcript.save();
  minute();
  EXPECT_EQ(recovered(), (Lines{"PostToolUse|stored|t1", "PostToolUse|stored|t2"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions WHERE transcript_due = 1"), 0);
  EXPECT_NE(m.text("SELECT completed FROM session_summaries").find("b.txt"), std::string::npos);
}

TEST_F(CatchUpTest, AHookThatComesLateIsADuplicate) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.save();
  minute();
  m.tell(chat.wrote("a.txt", "t1"));
  m.tell(chat.tool_failure("Write", "t1", Json::object(), "a hook may see it otherwise"));
  EXPECT_EQ(m.rows("SELECT source, outcome FROM events WHERE kind IN ('tool', 'tool_failure') ORDER BY seq"),
            (Lines{"transcript|stored", "hook|duplicate", "hook|duplicate"}));
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
}

TEST_F(CatchUpTest, AnInterruptedCallNeedsNoMoreThanItsStart) {
  begin();
  m.tell(chat.before_tool("Bash", "t1", Json::object({{"command", "sleep 100"}})));
  for (const char* id : {"t1", "t2"}) {
    transcript.use(id, "Bash", Json::object({{"command", "sleep 100"}}));
    transcript.result(id, "User rejected tool use", true,
                      "The user doesn't want to proceed with this tool use.");
  }
  transcript.save();
  minute();
  EXPECT_EQ(recovered(), (Lines{"PreToolUse|stored|t2"}));
  EXPECT_EQ(calls(), (Lines{"t1|stored|-", "t2|recovered|-"}));
}

TEST_F(CatchUpTest, OtherLinesOfTheSameLengthAreReadToo) {
  const auto rewrite = [&] {  // the same file, as after a power cut
    auto file = must(m.disk.open(transcript.path(), os::Open::read_write));
    must(file->truncate(0));
    must(file->write_at(0, transcript.text));
  };
  begin();
  const std::string start = transcript.text;
  transcript.wrote("one.txt", "t1");
  transcript.save();
  minute();
  const std::size_t size = transcript.text.size();
  transcript.text = start;
  transcript.wrote("two.txt", "t2");
  ASSERT_EQ(transcript.text.size(), size);
  rewrite();
  minute();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-", "t2|recovered|-"}));
  transcript.text = start;
  transcript.wrote("six.txt", "t3");
  ASSERT_EQ(transcript.text.size(), size);
  transcript.wrote("more.txt", "t4");
  rewrite();
  minute();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-", "t2|recovered|-", "t3|recovered|-", "t4|recovered|-"}));
}

TEST_F(CatchUpTest, NothingIsRecoveredFromTheTimeWhenCaptureWasOff) {
  begin();
  transcript.wrote("before.txt", "t1");
  m.clock.advance(seconds(5));
  must(ops::set_setting(m.disk, m.home, "capture.enabled", "false"));
  m.engine->reload();
  m.clock.advance(seconds(5));
  transcript.wrote("off.txt", "t2");
  m.clock.advance(seconds(5));
  must(ops::set_setting(m.disk, m.home, "capture.enabled", "true"));
  m.engine->reload();
  m.clock.advance(seconds(5));
  transcript.wrote("after.txt", "t3");
  transcript.save();
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-", "t2|counted|capture was off", "t3|recovered|-"}));
  EXPECT_EQ(shown_ledger()["tool_calls_counted"].dump(), R"({"capture was off":1})");
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM payloads WHERE instr(body, 'off.txt')"), 0);
}

TEST_F(CatchUpTest, NothingIsRecoveredFromAPauseThatNoDaemonSaw) {
  begin();
  m.close();
  m.clock.advance(minutes(1));
  must(ops::set_setting(m.disk, m.home, "capture.enabled", "false"));
  m.clock.advance(minutes(1));
  transcript.wrote("off.txt", "t1");
  m.clock.advance(minutes(1));
  must(ops::set_setting(m.disk, m.home, "capture.enabled", "true"));
  m.clock.advance(minutes(1));
  transcript.wrote("on.txt", "t2");
  transcript.save();
  must(m.open());
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|counted|capture was off", "t2|recovered|-"}));
}

TEST_F(CatchUpTest, AChangeOfAnotherSettingIsNotTakenForCaptureOff) {
  begin();
  transcript.wrote("before.txt", "t1");
  m.close();
  m.clock.advance(seconds(5));
  must(ops::set_setting(m.disk, m.home, "capture.enabled", "true"));  // as it is
  m.put_file(m.home.config_file, "[hook]\nsync = \"disk\"\n");        // by hand: the daemon writes hook.flags
  transcript.use("t2", "Write", Json::object({{"file_path", chat.cwd + "/after.txt"}, {"content", "alpha"}}));
  m.clock.advance(seconds(5));
  must(m.open());
  m.clock.advance(seconds(5));
  transcript.result("t2", "done");
  transcript.save();
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-", "t2|recovered|-"}));
}

TEST_F(CatchUpTest, NothingIsRecoveredWhileCaptureIsStillOff) {
  begin();
  must(ops::set_setting(m.disk, m.home, "capture.enabled", "false"));
  m.close();
  m.clock.advance(seconds(5));
  transcript.wrote("off.txt", "t1");
  transcript.save();
  must(m.open());
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|counted|capture was off"}));
}

TEST_F(CatchUpTest, ACallThatTheGateRefusedIsNotTriedAgain) {
  must(ops::set_setting(m.disk, m.home, "capture.skip_tools", "Read"));
  must(ops::set_setting(m.disk, m.home, "capture.exclude", "/home/dev/code/proj/secret"));
  m.engine->reload();
  begin();
  transcript.use("t1", "Read", Json::object({{"file_path", "/home/dev/code/proj/a"}}));
  transcript.result("t1", Json::object({{"type", "text"}}));
  transcript.wrote("secret/key", "t2");
  transcript.save();
  host_dies();
  EXPECT_EQ(recovered(), Lines{});
  EXPECT_EQ(
      m.number("SELECT count(*) FROM transcript_calls WHERE outcome = 'counted' AND reason LIKE 'capture.%'"),
      2);
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
}

TEST_F(CatchUpTest, APrivateTurnStaysPrivate) {
  begin("<private>the zebra wish</private>");
  transcript.wrote("zebra.txt", "t1");
  transcript.answer("The zebra is done.");
  transcript.save();
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|counted|its prompt is private"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 0);
}

TEST_F(CatchUpTest, APrivatePromptThatOnlyTheTranscriptHasMutesItsTurn) {
  m.tell(chat.start());
  (void)chat.prompt("<private>the zebra wish</private>");
  transcript.prompt("<private>the zebra wish</private>");
  transcript.wrote("zebra.txt", "t1");
  transcript.save();
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|counted|its prompt is private"}));
  EXPECT_EQ(m.number("SELECT muted FROM turns"), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE source = 'transcript' AND outcome = 'stored' AND "
                     "kind <> 'prompt'"),
            0);
}

TEST_F(CatchUpTest, HistoryBeforeAResumedSessionWasFirstSeenIsNotTaken) {
  chat.prompt_id = "prompt-old";
  transcript.prompt("long ago");
  transcript.wrote("history.txt", "t1");
  m.clock.advance(minutes(30));
  m.tell(chat.start("resume"));
  m.tell(chat.prompt("go on"));
  transcript.prompt("go on");
  transcript.wrote("new.txt", "t2");
  transcript.save();
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|counted|before this session was watched", "t2|recovered|-"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 1);
}

TEST_F(CatchUpTest, ASubagentsFileIsReadToo) {
  begin();
  transcript.use("t1", "Agent", Json::object({{"prompt", "look"}}));
  transcript.save();
  TranscriptWriter agent{m, chat, "", "a1"};
  agent.wrote("by-agent.txt", "t2");
  agent.save();
  host_dies();
  EXPECT_EQ(m.rows("SELECT tool_use_id, agent_id FROM events WHERE source = 'transcript' ORDER BY 1"),
            (Lines{"t1|-", "t2|a1"}));
}

TEST_F(CatchUpTest, AFileThatShrankOrWasReplacedIsReadAgainAndNothingCountsTwice) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.wrote("b.txt", "t2");
  transcript.save();
  minute();
  TranscriptWriter other{m, chat, "", ""};
  other.prompt("make a parser");
  other.wrote("b.txt", "t2");
  other.wrote("c.txt", "t3");
  other.save();
  minute();
  minute();
  EXPECT_EQ(recovered(), (Lines{"PostToolUse|stored|t1", "PostToolUse|stored|t2", "PostToolUse|stored|t3"}));
}

TEST_F(CatchUpTest, AFileThatShrankAndGrewPastItsMarkIsReadAgain) {
  begin();
  const std::string prompt = transcript.text;
  transcript.wrote("lost.txt", "t1");
  transcript.save();
  minute();
  // A power cut removes its end; the host continues after the rest, in the same file.
  transcript.text = prompt;
  transcript.wrote("after-the-cut.txt", "t2");
  transcript.wrote("later.txt", "t3");
  auto file = must(m.disk.open(transcript.path(), os::Open::read_write));
  must(file->truncate(prompt.size()));
  must(file->write_at(0, transcript.text));
  minute();
  minute();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-", "t2|recovered|-", "t3|recovered|-"}));
}

TEST_F(CatchUpTest, ACallWhoseLineIsGoneDoesNotWaitForEver) {
  begin();
  transcript.use("t1", "Write", Json::object({{"file_path", "/home/dev/code/proj/a.txt"}}));
  transcript.use("t2", "Write", Json::object({{"file_path", "/home/dev/code/proj/b.txt"}}));
  transcript.save();
  must(m.engine->tick());
  must(m.drain());
  ASSERT_EQ(calls(), (Lines{"t1|waiting|-", "t2|waiting|-"}));
  m.tell(chat.wrote("a.txt", "t1"));
  transcript.text.clear();
  transcript.prompt("make a parser");
  transcript.save();
  host_dies();
  EXPECT_EQ(calls(), (Lines{"t1|stored|-", "t2|counted|its line is gone from the transcript"}));
  EXPECT_EQ(shown_ledger()["tool_calls_counted"].dump(), R"({"its line is gone from the transcript":1})");
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
}

TEST_F(CatchUpTest, AnEndedSessionWithANewEventIsReadAgain) {
  begin();
  m.tell(chat.end());
  transcript.save();
  host_dies();
  minute();
  // It was resumed, and the hooks of its start and of its prompt failed.
  m.host = {4343, 78};
  (void)chat.prompt("go on");
  transcript.prompt("go on");
  transcript.wrote("a.txt", "t1");
  transcript.wrote("b.txt", "t2");
  transcript.save();
  m.tell(chat.wrote("b.txt", "t2"));
  minute();
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-", "t2|stored|-"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts WHERE prompt_text = 'go on'"), 1);
  EXPECT_EQ(ledger()["recovered"].as_int(), 2);
}

TEST_F(CatchUpTest, SessionsShowCountsDamagedLines) {
  begin();
  transcript.text += "{broken\n";
  transcript.wrote("a.txt", "t1");
  transcript.save();
  minute();
  EXPECT_EQ(shown_ledger()["transcripts"].items().at(0)["malformed"].as_int(), 1);
  EXPECT_EQ(calls(), (Lines{"t1|recovered|-"}));
}

TEST_F(CatchUpTest, APathThatIsNoTranscriptIsNotRead) {
  HookCall start = chat.start();
  start.payload.set("transcript_path", "/home/dev/secrets.txt");
  m.put_file("/home/dev/secrets.txt", "{}\n");
  m.tell(start);
  host_dies();
  EXPECT_EQ(m.number("SELECT sum(lines) FROM transcripts"), 0);
}

TEST_F(CatchUpTest, ALargeTranscriptIsReadInPieces) {
  begin();
  for (int i = 0; i < 50; ++i) {
    const std::string id = "t" + std::to_string(100 + i);
    transcript.use(
        id, "Write",
        Json::object({{"file_path", "/home/dev/code/proj/f"}, {"content", std::string(100'000, 'x')}}));
    transcript.result(id, Json::object({{"type", "create"}}));
  }
  transcript.save();
  m.processes.kill(m.host.pid);
  m.clock.advance(seconds(61));
  must(m.engine->tick());
  int steps = 0;
  while (must(m.engine->step())) ++steps;
  EXPECT_GE(steps, 3);
  EXPECT_EQ(m.number("SELECT count(*) FROM transcript_calls WHERE outcome = 'recovered'"), 50);
}

TEST_F(CatchUpTest, AnIdleSessionIsCheckedWithoutAWrite) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.save();
  minute();
  minute();
  const std::int64_t before = m.number("SELECT total_changes()");
  minute();
  minute();
  EXPECT_EQ(m.number("SELECT total_changes()"), before);
}

TEST_F(CatchUpTest, SessionsShowExplainsTheCounts) {
  begin();
  m.tell(chat.wrote("a.txt", "t1"));
  m.tell(chat.wrote("a.txt", "t1"));
  transcript.wrote("a.txt", "t1");
  transcript.wrote("b.txt", "t2");
  transcript.save();
  host_dies();
  const Json told_ledger = shown_ledger();
  EXPECT_EQ(told_ledger["delivered"].as_int(), 4);
  EXPECT_EQ(told_ledger["stored"].as_int(), 3);
  EXPECT_EQ(told_ledger["counted"]["duplicate: same tool use"].as_int(), 1);
  EXPECT_EQ(told_ledger["recovered"].as_int(), 1);
  EXPECT_EQ(told_ledger["distilled"].as_int(), 2);
  EXPECT_EQ(told_ledger["tool_calls"].as_int(), 2);
  EXPECT_EQ(told_ledger["gap"].as_int(), 0);
  EXPECT_EQ(told_ledger["transcripts"].items().size(), 1u);
}

TEST_F(CatchUpTest, EventsThatCouldNotBeWrittenAreNoProblemOnceTheyAreRecovered) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.wrote("b.txt", "t2");
  transcript.save();
  must(m.db().run("INSERT INTO meta(key, value) VALUES('failed_deliveries', 2)"));
  EXPECT_EQ(must(m.run("status"))["problems"].items().size(), 1u);
  host_dies();
  EXPECT_EQ(must(m.run("status"))["problems"].items().size(), 0u);
}

TEST_F(CatchUpTest, ARecoveredEventReducesTheCountOfUnwrittenEventsByOne) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.save();
  m.put_file(m.home.inbox() + "/failed", "a\nb\nc\n");
  host_dies();
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE source = 'transcript'"), 1);
  EXPECT_EQ(must(m.run("status"))["problems"].items().size(), 1u);
  EXPECT_NE(must(m.run("status"))["problems"].dump().find("2 events could not be written"),
            std::string::npos);
}

TEST_F(CatchUpTest, EveryQueryUsesAnIndex) {
  for (const char* sql :
       {"SELECT id FROM sdk_sessions WHERE transcript_due = 1 AND status = 'active'",
        "SELECT id FROM sdk_sessions WHERE transcript_due = 1 AND status IN ('completed', 'failed')",
        "SELECT kind FROM events WHERE session_db_id = 1 AND tool_use_id = 'x' AND outcome = 'stored'",
        "SELECT count(*) FROM transcript_calls WHERE outcome = 'waiting' AND at_epoch <= 1",
        "SELECT count(*) FROM events WHERE session_db_id = 1 AND source = 'transcript' AND outcome = "
        "'stored'"})
    for (const std::string& row : m.rows("EXPLAIN QUERY PLAN " + std::string(sql)))
      EXPECT_NE(row.find("SEARCH"), std::string::npos) << sql << "\n" << row;
}

TEST_F(CatchUpTest, AnEndlessLineIsSearchedOnceAndNotEachMinute) {
  begin();
  transcript.wrote("a.txt", "t1");
  transcript.text += std::string(2 * host::kTranscriptLook, 'x');
  transcript.save();
  int reads = 0;
  m.disk.on_call(
      [&](std::string_view op, std::string_view path) { reads += op == "read" && path.ends_with(".jsonl"); });
  minute();
  EXPECT_EQ(recovered().size(), 1u);
  EXPECT_GT(reads, 64);  // all of it
  reads = 0;
  minute();
  EXPECT_LE(reads, 4);
  m.disk.on_call(nullptr);
}

}  // namespace
}  // namespace cairn::test
