// Sessions whose hooks could not write: found in their transcripts by what the hooks noted.
#include <gtest/gtest.h>

#include "catch_up_fixture.h"
#include "hook/failures.h"

namespace cairn::test {
namespace {

// Another session, of which no hook could write anything, with a transcript like all others.
struct LostSession {
  LostSession(Machine& machine, std::string_view session) : m(machine) {
    chat.session = session;
    chat.prompt("fix the lexer");
    transcript.prompt("fix the lexer");
    transcript.wrote("lexer.c", "lost-1");
    transcript.answer("The lexer is mended.");
    transcript.save();
  }
  void note(std::string_view event) {
    hook::note_failure(
        m.disk, m.home, true,
        {epoch_ms(m.clock.now()), std::string(event), chat.session, "No space left on device"});
  }
  Machine& m;
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};
};

TEST_F(CatchUpTest, ASessionOfWhichNoHookCouldWriteIsFoundByTheirNote) {
  begin();
  m.tell(chat.end());
  m.clock.advance(std::chrono::minutes(5));
  LostSession lost(m, "22222222-aaaa-4bbb-8ccc-000000000002");
  LostSession silent(m, "33333333-aaaa-4bbb-8ccc-000000000003");  // CAIRN_DISABLE=1: its hooks note nothing
  for (const char* event : {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"})
    lost.note(event);
  EXPECT_NE(must(m.run("status"))["problems"].dump().find("5 events could not be written"), std::string::npos)
      << "reported at once, before the daemon has counted";
  minute();
  EXPECT_EQ(m.rows("SELECT name, outcome FROM events WHERE source = 'transcript' ORDER BY seq"),
            (Lines{"SessionStart|stored", "UserPromptSubmit|stored", "PostToolUse|stored", "Stop|stored"}));
  EXPECT_EQ(m.rows("SELECT content_session_id, prompt_text FROM user_prompts ORDER BY 1"),
            (Lines{chat.session + "|make a parser", lost.chat.session + "|fix the lexer"}));
  EXPECT_EQ(m.text("SELECT status FROM sdk_sessions WHERE content_session_id = '" + lost.chat.session + "'"),
            "completed");
  EXPECT_EQ(must(m.run("status"))["problems"].dump(), "[]");
  EXPECT_EQ(ledger()["gap"].as_int(), 0);
  minute();
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE source = 'transcript'"), 4) << "once";
}

TEST_F(CatchUpTest, TheNextSessionIsGivenOneThatRanOnADiskThatWasFullFromTheFirstStart) {
  LostSession lost(m, "22222222-aaaa-4bbb-8ccc-000000000002");
  lost.note("SessionStart");
  minute();  // nobody knows yet where transcripts are
  const context::Answer answer = m.ask(chat.start());
  EXPECT_NE(Machine::context_of(answer).find("fix the lexer"), std::string::npos) << answer.line;
  EXPECT_NE(answer.line.find("1 event could not be written"), std::string::npos) << answer.line;
}

TEST_F(CatchUpTest, AnEndedSessionThatIsNotedIsReadAgain) {
  begin();
  transcript.save();
  m.tell(chat.end());
  m.clock.advance(std::chrono::minutes(5));
  minute();
  EXPECT_EQ(recovered(), Lines{});
  transcript.wrote("later.txt", "t9");  // resumed while the disk was full
  transcript.save();
  hook::note_failure(m.disk, m.home, true, {epoch_ms(m.clock.now()), "SessionStart", chat.session, "full"});
  minute();
  EXPECT_EQ(calls(), Lines{"t9|recovered|-"});
}

TEST_F(CatchUpTest, ANoteOutsideAHomeThatCouldNotBeWrittenIsCountedAndRemoved) {
  must(os::make_dirs(m.disk, "/dev/shm"));
  m.put_file(m.home.failed_outside(), "1790000000000 Stop abc-1 Read-only file system\n");
  EXPECT_NE(must(m.run("status"))["problems"].dump().find("Read-only file system"), std::string::npos);
  const context::Answer answer = m.ask(chat.start());
  EXPECT_NE(answer.line.find("1 event could not be written"), std::string::npos) << answer.line;
  EXPECT_FALSE(m.disk.stat(m.home.failed_outside()).ok());
  must(m.engine->tick());
  EXPECT_EQ(m.number("SELECT value FROM meta WHERE key = 'failed_deliveries'"), 1);
}

TEST_F(CatchUpTest, WithoutPromptIdsACallIsNotTakenFromASessionWithAPrivatePrompt) {
  m.tell(chat.start());
  m.tell(chat.call("UserPromptSubmit", {{"prompt", "<private>the merger</private>"}}));
  transcript.use("t1", "Bash", Json::object({{"command", "echo merger"}}));
  transcript.result("t1", Json::object({{"stdout", "merger"}}));
  transcript.save();
  m.tell(chat.call("UserPromptSubmit", {{"prompt", "something else"}}));
  minute();
  EXPECT_EQ(calls(), Lines{"t1|counted|its prompt may be a private one"});
}

}  // namespace
}  // namespace cairn::test
