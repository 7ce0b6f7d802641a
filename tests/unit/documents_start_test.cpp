// What a session is told at its start about documents, age and size; the warning before a compaction; and
// what cairn does with documents by itself. The whole engine, a simulated disk.
#include <gtest/gtest.h>

#include "archive_fixture.h"

namespace cairn::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class StartTest : public ArchiveTest {
 protected:
  // A turn of `chat` with an edit, in hooks and in the transcript.
  void work(std::string_view words, std::string_view file, std::string_view answer) {
    const std::string n = std::to_string(++turn_);
    m.clock.advance(std::chrono::seconds(5));
    chat.prompt_id = "prompt-" + n;
    m.tell(chat.prompt(words, chat.prompt_id));
    transcript.prompt(words);
    m.tell(chat.wrote(file, "t" + n));
    transcript.wrote(file, "t" + n);
    m.tell(chat.stop(answer));
    transcript.answer(answer);
    transcript.save();
    m.clock.advance(std::chrono::seconds(5));
  }
  void session_with_work() {
    m.tell(chat.start());
    work("make a parser for dates", "src/dates.cpp", "The parser reads dates. Next: parse time zones.");
  }
  Json save() { return must(m.run("save", Json::object({{"cwd", chat.cwd}}))); }
  // The answer to the start of a new session.
  Json start_another(std::string_view source = "startup") {
    m.clock.advance(std::chrono::seconds(10));
    another_.session = "7e3f8a12-0000-4000-8000-0000000000" + std::to_string(10 + ++others_);
    return must(Json::parse(m.ask(another_.start(source)).line));
  }
  std::string told(std::string_view source = "startup") {
    return std::string(start_another(source)["systemMessage"].as_string());
  }
  // Another session answers a question.
  void another_works() {
    start_another();
    m.tell(another_.prompt("what is the weather"));
    m.tell(another_.stop("Rain."));
    m.tell(another_.end());
  }
  std::int64_t documents() { return m.number("SELECT count(*) FROM session_documents"); }
  std::string body() { return m.text("SELECT body FROM session_documents ORDER BY id DESC LIMIT 1"); }

  Chat another_{.prompt_id = "prompt-99"};

 private:
  int turn_ = 0, others_ = 0;
};

bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_F(StartTest, WithoutAnyDocumentSavingIsRecommendedOnceInAProject) {
  session_with_work();
  m.tell(chat.end());
  const std::string first = told();
  EXPECT_TRUE(
      says(first, "recommended: `cairn save` at the end of a session: the last one edited 1 file (B1)"))
      << first;
  EXPECT_FALSE(says(told(), "recommended")) << "once is enough";
}

TEST_F(StartTest, TheLastSessionsDocumentIsRecommendedUntilAnotherSessionWorked) {
  session_with_work();
  save();
  m.tell(chat.end());
  EXPECT_TRUE(says(told(), "recommended: `cairn resume`: D1 was saved")) << told();
  EXPECT_TRUE(says(told(), "nothing came after it") || says(told(), "has no edits and no commits")) << told();
  another_works();
  EXPECT_FALSE(says(told(), "recommended")) << "what came later is in the context";
  m.clock.advance(hours(25));
  const std::string old = told();
  EXPECT_TRUE(says(old, "recommended: `cairn save`: D1 was saved 25 h ago, and 1 session worked since"))
      << old;
  EXPECT_FALSE(says(told(), "recommended")) << "once for each document";
}

TEST_F(StartTest, AfterACompactionTheSessionsOwnDocumentIsRecommended) {
  session_with_work();
  save();
  EXPECT_FALSE(says(must(Json::parse(m.ask(chat.start("resume")).line)).dump(), "recommended"));
  work("parse time zones too", "src/zones.cpp", "Zones are read as well.");
  m.tell(chat.call("PreCompact", {{"trigger", "auto"}}));
  m.clock.advance(std::chrono::seconds(1));
  const std::string line = m.ask(chat.start("compact")).line;
  EXPECT_TRUE(says(line, "recommended: `cairn coalesce`: after D1 this session edited 1 file (B")) << line;
}

TEST_F(StartTest, ManualRecommendsNothing) {
  set("automation", "manual");
  session_with_work();
  m.tell(chat.end());
  EXPECT_FALSE(says(told(), "recommended"));
  save();
  EXPECT_FALSE(says(told(), "recommended"));
  EXPECT_EQ(documents(), 1);
  EXPECT_GE(count(), 1) << "it still captures";
}

TEST_F(StartTest, AutoWritesTheDocumentOfASessionThatEndedAndGivesItToTheNext) {
  set("automation", "auto");
  session_with_work();
  m.tell(chat.end());
  ASSERT_EQ(documents(), 1);
  EXPECT_EQ(m.text("SELECT source FROM session_documents"), "draft");
  EXPECT_EQ(m.number("SELECT count(*) FROM document_jobs"), 0);
  const Json line = start_another();
  const std::string context(line["hookSpecificOutput"]["additionalContext"].as_string());
  EXPECT_TRUE(says(context, "# Document D1\nResuming from D1, of 20")) << context;
  EXPECT_TRUE(says(line["systemMessage"].as_string(), "resumed from D1")) << line.dump();
  EXPECT_FALSE(says(line["systemMessage"].as_string(), "recommended")) << line.dump();
  EXPECT_TRUE(says(context, "make a parser for dates")) << context;
  EXPECT_FALSE(says(context, "| ## ")) << "its headings are plain lines: " << context;
  EXPECT_TRUE(says(context, "</cairn-memory nonce=")) << "inside the fence";
  EXPECT_LE(line["hookSpecificOutput"]["additionalContext"].as_string().size(), 8'100u);
  EXPECT_TRUE(says(m.text("SELECT items FROM injections ORDER BY id DESC LIMIT 1"), "\"D1\""));
}

TEST_F(StartTest, AutoBringsTheDocumentUpToDateAfterACompactionAndAtTheEnd) {
  set("automation", "auto");
  session_with_work();
  save();
  work("parse time zones too", "src/zones.cpp", "Zones are read as well.");
  m.tell(chat.call("PreCompact", {{"trigger", "auto"}}));
  m.clock.advance(std::chrono::seconds(1));
  m.tell(chat.start("compact"));
  EXPECT_EQ(documents(), 1);
  EXPECT_TRUE(says(body(), "src/zones.cpp")) << body();
  work("and leap seconds", "src/leap.cpp", "Leap seconds are read.");
  m.tell(chat.end());
  EXPECT_EQ(documents(), 1) << "one document a session";
  EXPECT_TRUE(says(body(), "src/leap.cpp")) << body();
  const std::string before = body();
  m.tell(chat.start("resume"));
  m.clock.advance(std::chrono::seconds(10));
  m.tell(chat.end("logout"));
  EXPECT_EQ(body(), before) << "nothing came after it";
}

TEST_F(StartTest, AutoWritesNoDocumentForASingleQuestion) {
  set("automation", "auto");
  another_works();
  EXPECT_EQ(documents(), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM document_jobs"), 0);
}

TEST_F(StartTest, WorkOlderThanTheLimitThatIsNotSummarisedIsReported) {
  session_with_work();
  m.tell(chat.end());
  m.clock.advance(hours(25));
  EXPECT_FALSE(says(told(), "stale")) << "age alone is no reason";
  m.tell(another_.prompt("go on with the parser"));
  m.tell(another_.stop("I went on."));
  m.tell(another_.end());
  must(m.db().run("DELETE FROM session_summaries WHERE id = (SELECT max(id) FROM session_summaries)"));
  EXPECT_FALSE(says(told(), "stale")) << "not old enough";
  m.clock.advance(hours(24));
  const std::string late = told();
  EXPECT_TRUE(says(late, "stale: work of 24 h ago is not summarised yet")) << late;
  set("context.stale_hours", "0");
  EXPECT_FALSE(says(told(), "stale"));
}

// The host reports its files after the start: the next session is warned.
TEST_F(StartTest, TooMuchTextAtTheStartIsReportedOnceWithItsParts) {
  m.disk.provide_dir(chat.cwd);
  m.disk.provide_file(chat.cwd + "/RULES.md", std::string(20 * 1024, 'x'));
  m.tell(chat.start());
  const auto loaded = [&](std::string_view file, std::string_view reason) {
    m.tell(chat.call("InstructionsLoaded", {{"file_path", chat.cwd + "/" + std::string(file)},
                                            {"memory_type", "Project"},
                                            {"load_reason", reason}}));
  };
  loaded("RULES.md", "session_start");
  loaded("gone.md", "session_start");
  loaded("other.md", "nested_traversal");
  EXPECT_EQ(m.rows("SELECT path FROM instruction_files").size(), 2u);
  EXPECT_FALSE(says(told(), "instruction file")) << "20 KB is not more than 20 KB";
  work("make a parser for dates", "src/dates.cpp", "The parser reads dates.");
  m.tell(chat.end());
  const std::string warned = told();
  EXPECT_TRUE(says(warned, "KB of cairn and 20 KB in 1 instruction file (context.overhead_kb = 20)"))
      << warned;
  EXPECT_FALSE(says(told(), "instruction file")) << "once, unless it grows";
  m.disk.provide_file(chat.cwd + "/RULES.md", std::string(40 * 1024, 'x'));
  EXPECT_TRUE(says(told(), "40 KB in 1 instruction file"));
}

class FullContext : public StartTest {
 protected:
  void answer_with(std::int64_t tokens) {
    transcript.line("assistant",
                    Json::object({{"model", "m"},
                                  {"content", Json::array({})},
                                  {"usage", Json::object({{"input_tokens", 10},
                                                          {"cache_read_input_tokens", tokens - 20},
                                                          {"output_tokens", 10}})}}));
    transcript.save();
  }
  std::string prompt(std::string_view words) {
    m.clock.advance(std::chrono::seconds(10));
    const Json line = must(Json::parse(m.ask(chat.prompt(words)).line));
    return std::string(line["systemMessage"].as_string());
  }
};

TEST_F(FullContext, IsReportedOnceWithAPromptAndAgainAfterACompaction) {
  m.ask(chat.start());
  EXPECT_EQ(prompt("one"), "") << "there is no transcript yet";
  answer_with(139'000);
  EXPECT_EQ(prompt("two"), "");
  answer_with(141'000);
  const std::string warned = prompt("three");
  EXPECT_TRUE(says(warned, "70 % full (141,000 of 200,000 tokens)")) << warned;
  EXPECT_TRUE(says(warned, "`cairn save`"));
  EXPECT_EQ(prompt("four"), "") << "once";
  m.tell(chat.call("PreCompact", {{"trigger", "auto"}}));
  transcript.line("system", Json(), {{"subtype", "compact_boundary"}});
  transcript.save();
  m.ask(chat.start("compact"));
  EXPECT_EQ(prompt("five"), "") << "what stands before the compaction counts no more";
  answer_with(150'000);
  EXPECT_TRUE(says(prompt("six"), "75 % full"));
}

TEST_F(FullContext, KnowsAWindowThatIsLargerThanUsual) {
  Chat& big = chat;
  m.ask({"SessionStart", big.start().payload.set("model", "m[1m]")});
  answer_with(180'000);
  EXPECT_EQ(prompt("one"), "") << "the host said so at the start";
  answer_with(710'000);
  EXPECT_TRUE(says(prompt("two"), "71 % full (710,000 of 1,000,000 tokens)"));
}

TEST_F(FullContext, IsNotReportedWhenSwitchedOffOrByASubagentsLine) {
  set("context.full_percent", "0");
  m.ask(chat.start());
  answer_with(190'000);
  EXPECT_EQ(prompt("one"), "");
  set("context.full_percent", "70");
  set("automation", "manual");
  EXPECT_EQ(prompt("two"), "");
  set("automation", "hybrid");
  transcript.text.clear();
  transcript.agent = "a1";
  answer_with(190'000);
  transcript.agent.clear();
  transcript.save();
  EXPECT_EQ(prompt("three"), "");
}

class Variables : public StartTest {
 protected:
  const std::string file_ = "/home/dev/env/start.sh";
  void SetUp() override {
    m.env_file = file_;
    m.disk.provide_dir("/home/dev/env");
    StartTest::SetUp();
  }
};

TEST_F(Variables, AreAppendedToTheHostsFileAtEachStart) {
  m.disk.provide_file(file_, "export MINE=1\n");
  m.ask(chat.start());
  EXPECT_EQ(m.read(file_), "export MINE=1\nCAIRN_SESSION_ID=" + chat.session +
                               "\nCAIRN_PENDING_BACKUP=''\nCAIRN_CONTEXT_STALE=0\nexport CAIRN_SESSION_ID "
                               "CAIRN_PENDING_BACKUP CAIRN_CONTEXT_STALE\n");
  m.tell(chat.prompt("make a parser"));
  transcript.prompt("make a parser");
  transcript.save();
  m.tell(chat.stop("Made."));
  m.tell(chat.end());
  m.disk.provide_file(file_, "");
  start_another();
  EXPECT_TRUE(says(m.read(file_), "\nCAIRN_PENDING_BACKUP=B1\n")) << m.read(file_);
}

TEST_F(Variables, ThatCannotBeWrittenDoNotHurtTheAnswer) {
  m.env_file = "/home/dev/nowhere/start.sh";
  EXPECT_TRUE(says(m.ask(chat.start()).line, "recording"));
  EXPECT_TRUE(m.log.has("variables for the host"));
  EXPECT_FALSE(m.disk.stat("/home/dev/nowhere").ok()) << "no directory is made";
  for (const char* path : {"start.sh", ""}) {
    m.env_file = path;
    EXPECT_TRUE(start_another().is_object()) << path;
  }
}

}  // namespace
}  // namespace cairn::test
