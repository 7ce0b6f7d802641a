// Events one by one: what is kept, what is only counted, and why.
#include <gtest/gtest.h>

#include "ops/settings.h"
#include "store/evidence.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

class Events : public testing::Test {
 protected:
  Events() { must(m.open()); }

  Lines outcomes() { return m.rows("SELECT name, outcome FROM events ORDER BY seq"); }
  std::int64_t count(const std::string& outcome) {
    return m.number("SELECT count(*) FROM events WHERE outcome = '" + outcome + "'");
  }
  // Whether `text` occurs in any row of any table, or in the bytes of the database or its log.
  bool stored(std::string_view text) {
    for (const std::string& file : {m.home.database(), m.home.database() + "-wal"})
      if (m.disk.stat(file).ok() && m.read(file).find(text) != std::string::npos) return true;
    return false;
  }
  std::int64_t prompts_with(const std::string& text) {
    return m.number("SELECT count(*) FROM user_prompts WHERE instr(prompt_text, '" + text + "') > 0");
  }

  Machine m;
  Chat chat;
};

TEST_F(Events, APrivatePromptThatComesAfterItsTurnsEventsRemovesThem) {
  m.tell(chat.prompt("an open request"));
  m.tell(chat.ran("make shared", "t0"));
  m.tell(chat.stop("Shared is done."));
  HookCall secret = chat.prompt("<private>the zebra wish</private>", "p2");
  m.tell(chat.before_tool("Bash", "t1", Json::object({{"command", "feed the zebra"}})));
  m.tell(chat.ran("feed the zebra", "t1"));
  m.tell(chat.ran("make shared", "t2"));  // what the open turn said too
  m.tell(chat.stop("The zebra is fed."));
  ASSERT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2);
  m.tell(secret);
  EXPECT_EQ(m.rows("SELECT name, outcome, reason FROM events WHERE prompt_number = 2 ORDER BY seq"),
            (Lines{"PreToolUse|private|its prompt is private", "PostToolUse|private|its prompt is private",
                   "PostToolUse|private|its prompt is private", "Stop|private|its prompt is private",
                   "UserPromptSubmit|private|its prompt is private"}));
  EXPECT_EQ(m.rows("SELECT prompt_number FROM session_summaries"), (Lines{"1"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE prompt_number = 2"), 0);
  EXPECT_EQ(
      m.number(
          "SELECT count(*) FROM evidence v JOIN events e ON e.seq = v.event_seq WHERE e.prompt_number = 2"),
      0);
  EXPECT_EQ(
      m.number("SELECT count(*) FROM payloads p WHERE NOT EXISTS (SELECT 1 FROM evidence v WHERE p.id IN "
               "(v.input_payload, v.response_payload, v.extra_payload))"),
      0);
  EXPECT_EQ(must(store::turn_events(m.db(), SessionId{1}, 1)).size(), 3u);
  must(m.db().checkpoint(true));
  EXPECT_FALSE(stored("zebra"));
  EXPECT_TRUE(stored("Shared is done."));
  // What comes still later is private as ever.
  m.tell(chat.ran("groom the zebra", "t3"));
  EXPECT_EQ(count("private"), 6);
}

// The hook's answer was due before any event could be read.
TEST(LatePrompt, ComesAfterTheOlderEventsOfItsSessionAndBeforeAllOthers) {
  for (const bool ids : {true, false}) {
    Machine m;
    must(m.open());
    Chat chat, other;
    other.session = "another-session";
    const auto prompt = [&](std::string_view text) {
      HookCall call = chat.prompt(text);
      if (ids) return call;
      chat.prompt_id.clear();
      return chat.call("UserPromptSubmit", {{"prompt", text}});
    };
    m.deliver(other.prompt("of another session"));
    m.deliver(prompt("<private>the merger</private>"));
    m.deliver(chat.ran("echo the merger", "t1"));
    const EventId late = m.deliver(prompt("something else"));
    must(m.engine->answer(late, m.clock.boot_ns() - 1));
    EXPECT_EQ(m.rows("SELECT name, outcome FROM events ORDER BY seq"),
              (Lines{"UserPromptSubmit|private", "PostToolUse|private", "UserPromptSubmit|stored"}))
        << ids;
    must(m.drain());
    EXPECT_EQ(m.rows("SELECT content_session_id, prompt_number, prompt_text FROM user_prompts ORDER BY id"),
              (Lines{chat.session + "|2|something else", "another-session|1|of another session"}))
        << ids;
  }
}

TEST_F(Events, ADirectoryOfManyComponentsCostsNoMoreThanItsLength) {
  for (int i = 0; i < 200'000; ++i) chat.cwd += "/a";  // to look for each of its parents would take hours
  m.tell(chat.start());
  m.tell(chat.prompt("work"));
  m.tell(chat.ran("make", "t1"));
  m.tell(chat.stop());
  EXPECT_EQ(count("stored"), 4);
}

TEST_F(Events, FilesInTheInboxWithoutAnEventsNameAreLeftAlone) {
  m.put_file(m.home.inbox() + "/new/.doctor-17", "probe");
  m.put_file(m.home.inbox() + "/new/0123", "cairn1 ");
  m.tell(chat.prompt("work"));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(outcomes(), Lines{"UserPromptSubmit|stored"});
  EXPECT_EQ(m.files("new").size(), 2u);
  EXPECT_EQ(must(m.engine->waiting()), 0u);
  EXPECT_EQ(must(m.run("status"))["inbox"].as_int(), 0);
  EXPECT_EQ(must(m.run("status"))["ledger"]["gap"].as_int(), 0);
}

TEST_F(Events, TheSameToolUseTwiceIsOneFact) {
  m.tell(chat.prompt("work"));
  m.tell(chat.before_tool("Bash", "t1", Json::object({{"command", "make"}})));
  m.tell(chat.ran("make", "t1"));
  m.clock.advance(std::chrono::hours(1));
  m.tell(chat.ran("make", "t1"));
  EXPECT_EQ(outcomes(), (Lines{"UserPromptSubmit|stored", "PreToolUse|stored", "PostToolUse|stored",
                               "PostToolUse|duplicate"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages"), 1);
}

TEST_F(Events, TheSameToolUseInAnotherSessionIsAnotherFact) {
  Chat other;
  other.session = "other";
  m.tell(chat.ran("make", "t1"));
  m.tell(other.ran("make", "t1"));
  EXPECT_EQ(count("stored"), 2);
}

TEST_F(Events, TwoSubagentsThatStartAtOnceAreTwo) {
  m.tell(chat.prompt("do two things"));
  for (const char* agent : {"a1", "a2", "a2"})
    m.tell(chat.call("SubagentStart", {{"agent_id", agent}, {"agent_type", "general-purpose"}}));
  EXPECT_EQ(m.rows("SELECT agent_id, outcome FROM events WHERE name = 'SubagentStart'"),
            (Lines{"a1|stored", "a2|stored", "-|duplicate"}));
}

TEST_F(Events, WithoutAToolUseTheSamePayloadWithinFiveSecondsIsADuplicate) {
  const HookCall note = chat.call("Notification", {{"message", "waiting"}});
  m.tell(note);
  m.clock.advance(Millis(4998));
  m.tell(note);  // 4999 ms after the first
  EXPECT_EQ(count("duplicate"), 1);
  m.clock.advance(Millis(5));
  m.tell(note);  // 5005 ms after the stored one
  EXPECT_EQ(count("stored"), 2);
  m.tell(chat.call("Notification", {{"message", "something else"}}));
  EXPECT_EQ(count("stored"), 3);
}

TEST_F(Events, TheSamePromptTextTwiceIsTwoPrompts) {
  m.tell(chat.prompt("go on", "p1"));
  m.tell(chat.prompt("go on", "p2"));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 2);
}

TEST_F(Events, FailFailPassIsThreeFacts) {
  m.tell(chat.prompt("make it pass"));
  const Json input = Json::object({{"command", "make test"}});
  m.tell(chat.tool_failure("Bash", "t1", input, "Exit code 2"));
  m.tell(chat.tool_failure("Bash", "t2", input, "Exit code 2"));
  m.tell(chat.ran("make test", "t3"));
  m.tell(chat.stop());
  EXPECT_EQ(
      m.number("SELECT count(*) FROM events WHERE kind IN ('tool', 'tool_failure') AND outcome = 'stored'"),
      3);
  // Their texts are in evidence, equal ones once.
  EXPECT_EQ(m.number("SELECT count(*) FROM evidence WHERE input_payload IS NOT NULL"), 3);
  EXPECT_EQ(m.number("SELECT count(DISTINCT input_payload) FROM evidence WHERE input_payload IS NOT NULL"),
            1);
  EXPECT_NE(m.text("SELECT completed FROM session_summaries").find("failed twice"), std::string::npos)
      << m.text("SELECT completed FROM session_summaries");
}

TEST_F(Events, AllThirtyNamesAndUnknownOnesAreKept) {
  const Lines names = {"PreToolUse",         "PostToolUse",
                       "PostToolUseFailure", "PostToolBatch",
                       "Notification",       "SessionStart",
                       "UserPromptSubmit",   "UserPromptExpansion",
                       "SessionEnd",         "Stop",
                       "StopFailure",        "SubagentStart",
                       "SubagentStop",       "PreCompact",
                       "PostCompact",        "Setup",
                       "PermissionRequest",  "PermissionDenied",
                       "TeammateIdle",       "TaskCreated",
                       "TaskCompleted",      "Elicitation",
                       "ElicitationResult",  "ConfigChange",
                       "WorktreeCreate",     "CwdChanged",
                       "WorktreeRemove",     "InstructionsLoaded",
                       "FileChanged",        "MessageDisplay",
                       "BrandNewEvent",      "x",
                       "\xc3\xbc\xc3\xb1"};
  for (const std::string& name : names)
    m.tell(chat.call(name, {{"agent_type", "general-purpose"}, {"novelty", "kept " + name}}));
  EXPECT_EQ(count("stored"), static_cast<std::int64_t>(names.size()));
  EXPECT_EQ(m.number("SELECT count(DISTINCT name) FROM events"), static_cast<std::int64_t>(names.size()));
}

TEST_F(Events, MembersNobodyKnowsAreEvidence) {
  m.tell(chat.call("BrandNewEvent", {{"novelty", Json::object({{"deep", "kept"}})}}));
  const auto kept = must(store::kept_event(m.db(), 1));
  ASSERT_TRUE(kept && kept->texts.extra);
  EXPECT_EQ(must(Json::parse(*kept->texts.extra))["novelty"]["deep"].as_string(), "kept");
}

TEST_F(Events, OurOwnAgentsEventsAreCountedAndNeverStored) {
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  Chat agent;
  agent.session = m.text("SELECT memory_session_id FROM sdk_sessions");
  m.tell(agent.prompt("observe this very private thought"));
  m.tell(agent.ran("make", "t1"));
  EXPECT_EQ(count("own_agent"), 2);
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 1);
  EXPECT_FALSE(stored("very private thought"));
}

TEST_F(Events, OurOwnAgentsEventsAreNotBadWhenARuleSkipsThem) {
  must(ops::set_setting(m.disk, m.home, "capture.skip_tools", "[\"Bash\"]"));
  m.engine->reload();
  m.tell(chat.prompt("work"));
  m.tell(chat.stop());
  Chat agent;
  agent.session = m.text("SELECT memory_session_id FROM sdk_sessions");
  m.tell(agent.ran("make", "t1"));
  EXPECT_EQ(count("own_agent"), 1);
  EXPECT_EQ(count("bad"), 0);
}

TEST_F(Events, APrivatePromptMutesItsTurn) {
  m.tell(chat.prompt("<private>the zebra wish</private>"));
  m.tell(chat.before_tool("Write", "t1", Json::object({{"file_path", "/home/dev/code/proj/zebra-file"}})));
  m.tell(chat.wrote("zebra-file", "t1"));
  m.tell(chat.stop("I did the zebra deed."));
  EXPECT_EQ(outcomes(),
            (Lines{"UserPromptSubmit|private", "PreToolUse|private", "PostToolUse|private", "Stop|private"}));
  EXPECT_EQ(m.rows("SELECT prompt_number, end_reason, muted FROM turns"), (Lines{"1|stop|1"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 0);
  EXPECT_FALSE(stored("zebra"));
  m.tell(chat.prompt("in the open"));
  m.tell(chat.wrote("open.txt", "t2"));
  m.tell(chat.stop());
  EXPECT_EQ(m.rows("SELECT prompt_number, request FROM session_summaries"), (Lines{"2|in the open"}));
}

TEST_F(Events, AStartAfterAPrivateTurnIsNotPrivateAndIsAnswered) {
  Chat other;
  other.session = "other";
  m.tell(other.prompt("paint the fence"));
  m.tell(other.stop("Painted."));
  m.tell(chat.prompt("<private>the zebra wish</private>"));
  EXPECT_NE(Machine::context_of(m.ask(chat.start("compact"))).find("paint the fence"), std::string::npos);
  EXPECT_EQ(m.text("SELECT outcome FROM events WHERE name = 'SessionStart'"), "stored");
}

TEST_F(Events, AFailureInAPrivateTurnSaysNothingOfIt) {
  m.tell(chat.prompt("<private>the zebra wish</private>"));
  m.tell(
      chat.call("StopFailure", {{"error", "the zebra error"}, {"last_assistant_message", "a zebra word"}}));
  m.tell(chat.end());
  EXPECT_FALSE(stored("zebra"));
  EXPECT_EQ(m.text("SELECT status FROM sdk_sessions"), "failed");
}

TEST_F(Events, PrivatePartsOfAPayloadNeverReachTheStore) {
  m.tell(chat.prompt("use <private>the zebra token</private> please"));
  m.tell(chat.tool("Bash", "t1", Json::object({{"command", "login <private>zebra</private>"}}),
                   Json::object({{"stdout", Json::array({"a <private>zebra", "zebra</private> b"})}})));
  m.tell(chat.stop("Done <private>zebra"));
  EXPECT_FALSE(stored("zebra"));
  EXPECT_EQ(m.text("SELECT prompt_text FROM user_prompts"), "use [private] please");
}

TEST_F(Events, WaitWhileTheSecretsOfTheirSessionCannotBeRead) {
  m.tell(chat.prompt("DB_PASSWORD=hT7bNq22wx"));
  must(m.open());  // nothing of the session is in memory
  must(m.db().run("ALTER TABLE session_secrets RENAME TO unreadable"));
  m.deliver(chat.prompt("MAIL_PASSWORD=kW3mPz81qv beside hT7bNq22wx"));
  EXPECT_FALSE(m.drain());
  must(m.db().run("ALTER TABLE unreadable RENAME TO session_secrets"));
  must(m.drain());
  m.tell(chat.prompt("echo hT7bNq22wx and kW3mPz81qv"));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 3);
  EXPECT_EQ(prompts_with("hT7bNq22wx"), 0);
  EXPECT_EQ(prompts_with("kW3mPz81qv"), 0);
}

TEST_F(Events, OfOneGroupShareTheirSecretsHoweverManySessionsAreInIt) {
  m.deliver(chat.prompt("DB_PASSWORD=hT7bNq22wx"));
  for (int i = 0; i < 80; ++i) {
    Chat other;
    other.session = "other-" + std::to_string(i);
    m.deliver(other.prompt("work"));
  }
  m.deliver(chat.prompt("echo hT7bNq22wx"));
  must(m.drain());
  m.tell(chat.prompt("echo hT7bNq22wx again"));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 83);
  EXPECT_EQ(prompts_with("hT7bNq22wx"), 0);
}

TEST_F(Events, StoreTheirSecretsAlsoAfterAFailedCommit) {
  m.deliver(chat.prompt("DB_PASSWORD=hT7bNq22wx"));
  m.disk.set_capacity(m.disk.used());
  EXPECT_FALSE(m.drain());
  m.disk.set_capacity(1u << 30);
  must(m.drain());
  must(m.open());
  m.tell(chat.prompt("echo hT7bNq22wx"));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 2);
  EXPECT_EQ(prompts_with("hT7bNq22wx"), 0);
}

TEST_F(Events, SkippedToolsAreCountedWithTheirRule) {
  must(ops::set_setting(m.disk, m.home, "capture.skip_tools", "[\"Read\"]"));
  must(ops::set_setting(m.disk, m.home, "capture.exclude", "[\"*.pem\"]"));
  m.engine->reload();
  m.tell(chat.prompt("work"));
  m.tell(chat.tool("Read", "t1", Json::object({{"file_path", "/home/dev/a"}}),
                   Json::object({{"x", "secret-1"}})));
  m.tell(chat.tool("Grep", "t2", Json::object({{"path", "/home/dev/key.pem"}}),
                   Json::object({{"x", "secret-2"}})));
  EXPECT_EQ(m.rows("SELECT outcome, reason FROM events WHERE kind = 'tool' ORDER BY seq"),
            (Lines{"skipped|capture.skip_tools \"Read\"", "skipped|capture.exclude \"*.pem\""}));
  EXPECT_FALSE(stored("secret-"));
}

TEST_F(Events, TheOrderOfABacklogIsBootTimeWhateverTheWallClockSays) {
  m.deliver(chat.prompt("first"));
  m.clock.set_wall(m.clock.now() - std::chrono::hours(3));  // somebody sets the clock back
  m.deliver(chat.prompt("second"));
  m.clock.set_wall(m.clock.now() + std::chrono::hours(9));
  m.deliver(chat.prompt("third"));
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT prompt_number, prompt_text FROM user_prompts ORDER BY 1"),
            (Lines{"1|first", "2|second", "3|third"}));
}

TEST_F(Events, BootsFollowEachOtherByTheirFirstEvent) {
  m.deliver(chat.prompt("before the reboot"));
  m.clock.reboot("fedcba9876543210fedcba9876543210");
  m.deliver(chat.prompt("after it"));
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT prompt_number, prompt_text FROM user_prompts ORDER BY 1"),
            (Lines{"1|before the reboot", "2|after it"}));
}

TEST_F(Events, LongFieldsAreCutWithAMarker) {
  must(ops::set_setting(m.disk, m.home, "evidence.max_field_kb", "1"));
  m.engine->reload();
  m.tell(chat.prompt(std::string(5000, 'p')));
  m.tell(chat.tool("Bash", "t1", Json::object({{"command", std::string(9000, 'c')}}), Json()));
  EXPECT_LE(m.text("SELECT prompt_text FROM user_prompts").size(), 1024u);
  EXPECT_NE(m.text("SELECT prompt_text FROM user_prompts").find("bytes cut"), std::string::npos);
  const auto kept = must(store::kept_event(m.db(), m.number("SELECT event_seq FROM pending_messages")));
  ASSERT_TRUE(kept && kept->texts.input);
  EXPECT_LE(kept->texts.input->size(), 1100u);
}

}  // namespace
}  // namespace cairn::test
