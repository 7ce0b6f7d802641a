// What claude-mem remembered.
#include "old_memory_fixture.h"
#include "transcript_lines.h"

namespace cairn::test {
namespace {

constexpr std::int64_t kThen = 1'750'000'000'000;
const std::string kOldMemory = "/home/dev/.claude-mem/claude-mem.db";

class OldMemoryTest : public ::testing::Test {
 protected:
  Machine m;
  std::optional<OldDatabase> old;

  void SetUp() override {
    must(m.open());
    must(os::make_dirs(m.disk, "/home/dev/.claude-mem"));
    old.emplace(m, kOldMemory);
  }
  void TearDown() override {
    old.reset();
    m.close();
  }
  // Two sessions of one project, the second with two prompts.
  void fill() {
    old->session("s-one", "parser", kThen);
    old->prompt("s-one", 1, "Make the parser fast", kThen + 10);
    old->observation("s-one", "parser", "Tables are kept between calls", "It rebuilt them.", kThen + 20,
                     "/home/dev/work/parser/src/parser.c");
    old->summary("s-one", "parser", "The tables are kept now", kThen + 30);
    old->session("s-two", "parser", kThen + 1'000'000);
    old->prompt("s-two", 1, "Measure the lexer", kThen + 1'000'010);
    old->prompt("s-two", 2, "Write it down", kThen + 1'000'020);
    old->observation("s-two", "parser", "The lexer takes half of the time", "By perf.", kThen + 1'000'030);
    old->summary("s-two", "parser", "The lexer was measured", kThen + 1'000'040, 2);
  }
  Json import(bool dry_run = false, const std::string& path = kOldMemory) {
    const Json result =
        must(m.run("import.claude-mem", Json::object({{"path", path}, {"dry_run", dry_run}})));
    must(m.drain());
    return result;
  }
  Json status() { return must(m.run("import.status"))["memories"].items().front(); }
};

TEST_F(OldMemoryTest, EverySessionPromptObservationAndSummaryArrivesWithItsTime) {
  fill();
  const Json found = import()["found"];
  EXPECT_EQ(found.dump(), R"({"observations":2,"prompts":3,"sessions":2,"summaries":2})");
  EXPECT_EQ(m.rows("SELECT content_session_id, platform, project, status, imported, prompt_count, "
                   "started_at_epoch, completed_at_epoch - started_at_epoch FROM sdk_sessions ORDER BY 1"),
            (Lines{"s-one|claude-code|parser|completed|1|1|1750000000000|60000",
                   "s-two|claude-code|parser|completed|1|2|1750001000000|60000"}));
  EXPECT_EQ(m.rows("SELECT prompt_number, prompt_text, created_at_epoch FROM user_prompts ORDER BY id DESC"),
            (Lines{"1|Make the parser fast|1750000000010", "2|Write it down|1750001000020",
                   "1|Measure the lexer|1750001000010"}))
      << "the newest session comes first";
  EXPECT_EQ(m.rows("SELECT type, title, facts, concepts, created_at_epoch FROM observations ORDER BY "
                   "created_at_epoch"),
            (Lines{"bugfix|Tables are kept between calls|[\"three tables were "
                   "rebuilt\"]|[\"problem-solution\"]|1750000000020",
                   "bugfix|The lexer takes half of the time|[\"three tables were "
                   "rebuilt\"]|[\"problem-solution\"]|1750001000030"}));
  EXPECT_EQ(m.rows("SELECT provider, prompt_number, completed FROM session_summaries ORDER BY id"),
            (Lines{"claude-mem|2|The lexer was measured", "claude-mem|1|The tables are kept now"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM turns WHERE end_reason = 'stop'"), 3);
  EXPECT_EQ(status()["state"].as_string(), "done");
  EXPECT_EQ(status()["imported"], found);
}

TEST_F(OldMemoryTest, WhatStandsOnlyInTheLogBesideTheDatabaseIsReadAndNothingIsChanged) {
  fill();
  ASSERT_TRUE(m.disk.stat(kOldMemory + "-wal"));
  const std::string file = m.read(kOldMemory), log = m.read(kOldMemory + "-wal");
  EXPECT_EQ(import()["found"]["sessions"].as_int(), 2);
  EXPECT_EQ(m.read(kOldMemory), file);
  EXPECT_EQ(m.read(kOldMemory + "-wal"), log);
  EXPECT_EQ(must(m.disk.list("/home/dev/cairn/imports")), Lines{}) << "no copy is left";
}

TEST_F(OldMemoryTest, ASecondImportAddsOnlyWhatIsNew) {
  fill();
  import();
  EXPECT_EQ(import()["found"].dump(), "{}");
  old->prompt("s-two", 3, "And the tokens?", kThen + 1'000'050);
  const Json again = import();
  EXPECT_EQ(again["found"].dump(), R"({"prompts":1})");
  EXPECT_EQ(again["known"].dump(), R"({"observations":2,"prompts":3,"sessions":2,"summaries":2})");
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 4);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations"), 2);
  EXPECT_EQ(m.number("SELECT prompt_count FROM sdk_sessions WHERE content_session_id = 's-two'"), 3);
}

TEST_F(OldMemoryTest, ADryRunChangesNothing) {
  fill();
  EXPECT_EQ(import(true)["found"]["observations"].as_int(), 2);
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM import_jobs"), 0);
  EXPECT_EQ(must(m.disk.list("/home/dev/cairn/imports")), Lines{});
}

TEST_F(OldMemoryTest, TheNextSessionOfThatDirectoryIsGivenIt) {
  fill();
  import();
  EXPECT_EQ(m.text("SELECT key FROM projects"), "/home/dev/work/parser") << "from the files it names";
  Chat now;
  now.cwd = "/home/dev/work/parser";
  EXPECT_NE(Machine::context_of(m.ask(now.start())).find("The lexer was measured"), std::string::npos);
  const Json found =
      must(m.run("search", Json::object({{"query", "tables"}, {"cwd", "/home/dev/work/parser"}})));
  ASSERT_FALSE(found["results"].items().empty());
  EXPECT_EQ(found["results"].items().front()["title"].as_string(), "Tables are kept between calls");
}

TEST_F(OldMemoryTest, TheDirectoryComesFromTheToolsOfTheSession) {
  old->session("s-one", "parser", kThen);
  old->prompt("s-one", 1, "Make the parser fast", kThen + 10);
  must(
      old->db.run("INSERT INTO tool_uses(content_session_id, project, cwd) VALUES('s-one', 'parser', "
                  "'/srv/parser/src')"));
  import();
  EXPECT_EQ(m.text("SELECT key FROM projects"), "/srv/parser");
}

TEST_F(OldMemoryTest, AProjectThatIsKnownByNameOnlyBelongsToTheFirstDirectoryOfThatName) {
  old->session("s-one", "parser", kThen);
  old->prompt("s-one", 1, "Make the parser fast", kThen + 10);
  old->summary("s-one", "parser", "The tables of the parser are kept now", kThen + 30);
  import();
  EXPECT_EQ(m.rows("SELECT key, name FROM projects"), (Lines{"claude-mem:parser|parser"}));
  Chat now;
  now.cwd = "/home/dev/code/parser";
  EXPECT_NE(Machine::context_of(m.ask(now.start())).find("The tables of the parser are kept now"),
            std::string::npos);
  EXPECT_EQ(m.rows("SELECT key, name FROM projects"), (Lines{"/home/dev/code/parser|parser"}));
}

TEST_F(OldMemoryTest, ASessionThatIsRememberedIsNotDoubled) {
  Chat chat;
  chat.session = "s-one";
  chat.cwd = "/home/dev/work/parser";
  m.tell(chat.start());
  m.tell(chat.prompt("Make the parser fast"));
  m.tell(chat.stop("Done: the tables are kept."));
  m.tell(chat.end());
  fill();
  import();
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions WHERE content_session_id = 's-one'"), 1);
  EXPECT_EQ(m.number("SELECT imported FROM sdk_sessions WHERE content_session_id = 's-one'"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts WHERE content_session_id = 's-one'"), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries u JOIN sdk_sessions s USING(memory_session_id) "
                     "WHERE s.content_session_id = 's-one'"),
            1);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE title LIKE 'Tables are kept%'"), 1);
  EXPECT_EQ(status()["known"].dump(), R"({"prompts":1,"sessions":1})");
}

TEST_F(OldMemoryTest, ShowFindsARecordByItsOldId) {
  fill();
  import();
  const auto title = [&](const std::string& id) {
    const Json shown = must(m.run("show", Json::object({{"ids", Json::array({id})}})));
    const Json& record = shown["records"].items().front();
    return std::string(record["title"].as_string()) + std::string(record["completed"].as_string()) +
           std::string(record["text"].as_string());
  };
  EXPECT_EQ(title("claude-mem:2"), "The lexer takes half of the time");
  EXPECT_EQ(title("claude-mem:S1"), "The tables are kept now");
  EXPECT_EQ(title("claude-mem:P3"), "Write it down");
  EXPECT_FALSE(m.run("show", Json::object({{"ids", Json::array({"claude-mem:99"})}})));
}

TEST_F(OldMemoryTest, TheExportedFileGivesTheSame) {
  const std::string path = "/home/dev/export.json";
  m.put_file(path, R"({"exportedAt":"2025-06-15T00:00:00Z","totalObservations":1,"sessions":[
    {"id":7,"content_session_id":"s-one","memory_session_id":"m-s-one","project":"parser","started_at":"2025-06-15T15:06:40Z",
     "user_prompt":"Make the parser fast","status":"completed"}],
    "observations":[{"id":12,"memory_session_id":"m-s-one","project":"parser","type":"bugfix","title":"Tables are kept",
     "facts":["a","b"],"files_modified":"[\"/home/dev/work/parser/p.c\"]","created_at":"2025-06-15T15:06:41.000Z"},
     {"id":13,"memory_session_id":"m-lost","project":"parser","type":"change","title":"Of a session that the export lacks",
     "created_at_epoch":1750000009000}],
    "summaries":[{"id":3,"memory_session_id":"m-s-one","project":"parser","request":"Make it fast","completed":"Kept",
     "created_at_epoch":1750000030}],
    "prompts":[{"id":4,"content_session_id":"s-two","project":"parser","prompt_number":1,"prompt_text":"Another",
     "created_at_epoch":1750000040000}]})");
  const Json result = import(false, path);
  EXPECT_EQ(result["found"].dump(), R"({"observations":2,"prompts":2,"sessions":3,"summaries":1})");
  EXPECT_EQ(m.rows("SELECT title, facts, created_at_epoch FROM observations ORDER BY created_at_epoch"),
            (Lines{"Tables are kept|[\"a\",\"b\"]|1750000001000",
                   "Of a session that the export lacks|[]|1750000009000"}));
  EXPECT_EQ(m.rows("SELECT prompt_text, created_at_epoch FROM user_prompts ORDER BY 2"),
            (Lines{"Make the parser fast|1750000000000", "Another|1750000040000"}));
  EXPECT_EQ(m.text("SELECT created_at_epoch FROM session_summaries"), "1750000030000") << "seconds count too";
  EXPECT_EQ(m.number("SELECT count(DISTINCT project) FROM sdk_sessions"), 1);
  EXPECT_EQ(import(false, path)["found"].dump(), "{}");
}

TEST_F(OldMemoryTest, AnOlderSchemaAndUnknownTablesAreTolerated) {
  must(
      old->db.exec("ALTER TABLE sdk_sessions RENAME COLUMN content_session_id TO claude_session_id; "
                   "ALTER TABLE sdk_sessions RENAME COLUMN memory_session_id TO sdk_session_id; "
                   "ALTER TABLE observations RENAME COLUMN memory_session_id TO sdk_session_id; "
                   "ALTER TABLE observations DROP COLUMN facts; DROP TABLE user_prompts; DROP TABLE "
                   "session_summaries; DROP TABLE tool_uses; CREATE TABLE overviews(a); "
                   "INSERT INTO sdk_sessions(claude_session_id, sdk_session_id, project, user_prompt, "
                   "started_at, started_at_epoch) VALUES('s-one', 'm-one', 'parser', 'Make it fast', '', "
                   "1750000000000); "
                   "INSERT INTO observations(sdk_session_id, project, text, type, created_at, "
                   "created_at_epoch) VALUES('m-one', 'parser', 'The tables were rebuilt. Each time.', "
                   "'Discovery', '', 1750000001000)"));
  const Json result = import();
  EXPECT_EQ(result["unread_tables"].dump(), R"(["overviews"])");
  EXPECT_EQ(m.rows("SELECT type, title, narrative FROM observations"),
            (Lines{"discovery|The tables were rebuilt. Each time.|The tables were rebuilt. Each time."}));
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts"), (Lines{"Make it fast"}));
}

TEST_F(OldMemoryTest, TwoSummariesOfOneTurnAreBothKept) {
  old->session("s-one", "parser", kThen);
  old->prompt("s-one", 1, "Make the parser fast", kThen + 10);
  old->summary("s-one", "parser", "The first half is done", kThen + 30);
  old->summary("s-one", "parser", "The other half is done", kThen + 40);
  import();
  EXPECT_EQ(m.text("SELECT completed FROM session_summaries"),
            "The first half is done\nThe other half is done");
  EXPECT_EQ(import()["known"]["summaries"].as_int(), 2);
}

TEST_F(OldMemoryTest, ItsOwnAgentsSessionsAndPrivatePromptsAreLeftOut) {
  old->session("s-one", "observer-sessions", kThen);
  old->prompt("s-one", 1, "You are an observer", kThen + 10);
  old->session("s-two", "parser", kThen);
  old->prompt("s-two", 1, "<private>all of it</private>", kThen + 10);
  import();
  EXPECT_EQ(status()["left_out"].dump(), R"({"a memory agent's own session":1,"private, or empty":1})");
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 0);
}

TEST_F(OldMemoryTest, AnImportThatIsPendingIsNotStartedTwice) {
  fill();
  const Json args = Json::object({{"path", kOldMemory}});
  EXPECT_FALSE(must(m.run("import.claude-mem", args))["pending"].as_bool());
  EXPECT_TRUE(must(m.run("import.claude-mem", args))["pending"].as_bool());
  EXPECT_EQ(m.number("SELECT count(*) FROM import_jobs"), 1);
}

TEST_F(OldMemoryTest, ALongSessionIsImportedInPiecesAndAKilledDaemonGoesOn) {
  old->session("s-one", "parser", kThen);
  for (int i = 1; i <= 180; ++i) old->prompt("s-one", i, "Request " + std::to_string(i), kThen + i);
  must(m.run("import.claude-mem", Json::object({{"path", kOldMemory}})));
  while (m.number("SELECT count(*) FROM user_prompts") < 100) ASSERT_TRUE(must(m.engine->step()));
  m.engine.reset();
  old.reset();
  must(m.disk.remove(kOldMemory));  // the copy is what counts
  must(m.open());
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 180);
  EXPECT_EQ(status()["imported"].dump(), R"({"prompts":180,"sessions":1})");
}

TEST_F(OldMemoryTest, WhatIsNoMemoryIsAnErrorAndLeavesNothing) {
  m.put_file("/home/dev/notes.txt", "just words");
  m.put_file("/home/dev/torn.db", std::string("SQLite format 3\0", 16) + std::string(5000, 'x'));
  for (const char* path : {"/home/dev/notes.txt", "/home/dev/torn.db", "/home/dev/missing", "/home/dev"}) {
    const auto result = m.run("import.claude-mem", Json::object({{"path", path}}));
    ASSERT_FALSE(result) << path;
    EXPECT_NE(result.error().message.find(path), std::string::npos) << result.error().message;
  }
  EXPECT_EQ(m.number("SELECT count(*) FROM import_jobs"), 0);
  EXPECT_EQ(must(m.disk.list("/home/dev/cairn/imports")), Lines{});
}

}  // namespace
}  // namespace cairn::test
