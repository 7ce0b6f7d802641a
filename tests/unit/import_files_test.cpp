// What people kept in files for an earlier memory.
#include <gtest/gtest.h>

#include "import/markdown.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

const std::string kTree = "/home/dev/app/.claude/memory";
const std::string kRawSession = "7e0e7a6e-9a3c-4e0d-8f0a-00000000000a";

class FilesTest : public ::testing::Test {
 protected:
  Machine m;

  void SetUp() override {
    must(m.open());
    for (const char* folder : {"/sessions", "/raw"}) must(os::make_dirs(m.disk, kTree + folder));
  }
  void put(const std::string& name, std::string_view text) { m.put_file(kTree + "/" + name, text); }
  Json import(bool dry_run = false, const std::string& directory = "/home/dev/app") {
    const Json result =
        must(m.run("import.claude-memory", Json::object({{"directory", directory}, {"dry_run", dry_run}})));
    must(m.drain());
    return result;
  }
  static std::string line(int n, const char* type, const Json& content) {
    return Json::object({{"type", type},
                         {"uuid", "u" + std::to_string(n)},
                         {"sessionId", kRawSession},
                         {"cwd", "/home/dev/app"},
                         {"isSidechain", false},
                         {"timestamp", "2026-01-10T04:0" + std::to_string(n) + ":00.000Z"},
                         {"message", Json::object({{"role", type}, {"content", content}})}})
               .dump() +
           "\n";
  }
  static Json said(std::string_view words) {
    return Json::array({Json::object({{"type", "text"}, {"text", words}})});
  }
  void fill() {
    put("active-context.md",
        "# Active Session Context\r\n> Last Updated: 2026-01-10T05:15:00Z\r\n> Last Session Doc: x\r\n\r\n## "
        "Current Task\r\nMove the billing job\r\n\r\n## Next Steps\r\n1. Run the load test\r\n2. [x] "
        "done\r\n3. "
        "Remove the old worker\r\n   once it is idle\r\n");
    put("project-memory.md",
        "# Project Memory\nIntro.\n\n## Key Patterns\n- Every job is idempotent\n\n## Architecture "
        "Decisions\n[Decision and why]\n\n## Known Gotchas\n- Staging has no triggers\n");
    put("sessions/session-2026-01-09-2045.md",
        "---\ndate: 2026-01-09T20:45:12Z\nstatus: completed\ntags: [billing, \"queue\"]\nprevious_session: "
        "null\nbranch: feature/queue\n---\n# Billing adapter\n\n## Session Summary\nWritten.\n");
    put("sessions/session-2026-01-10-0515Z.md",
        "---\nstatus: odd\ntags:\n  - billing\nprevious_session: session-2026-01-09-2045.md\n---\n## Session "
        "Summary\nThe load test is prepared.\n\n## Remaining Todos\n- [ ] HIGH: Ask for access\n- [x] LOW: "
        "done\n");
    const std::string first = line(1, "user", "Move the billing job") +
                              line(2, "assistant", said("The billing job uses the queue."));
    put("raw/20260110_040300Z_compact.jsonl", first);
    put("raw/20260110_050000Z_clear.jsonl", first + line(3, "user", "Prepare the load test") +
                                                line(4, "assistant", said("It is in bench/load.sh now.")));
    put("raw/20260110_060000Z_.jsonl", "{\"type\":\"tool_use\",\"tool\":\"x\",\"input\":{}}\n");
    put(".pending-backup-exit", kTree + "/raw/20260110_050000Z_clear.jsonl\n");
  }
};

TEST_F(FilesTest, DocumentsKeepTheirDateStateTagsAndPredecessor) {
  fill();
  import();
  EXPECT_EQ(m.rows("SELECT name, title, status, tags, branch, source, created_at, previous_id FROM "
                   "session_documents ORDER BY id"),
            (std::vector<std::string>{
                "session-2026-01-09-2045.md|Billing adapter|completed|[\"billing\",\"queue\"]|"
                "feature/queue|import|2026-01-09T20:45:12.000Z|-",
                "session-2026-01-10-0515Z.md|The load test is prepared.|in-progress|["
                "\"billing\"]|-|import|2026-01-10T05:15:00.000Z|1"}))
      << "a date that is missing comes from the name";
}

TEST_F(FilesTest, SectionsOfTheProjectMemoryAreNotesAndNextStepsAreOpen) {
  fill();
  import();
  EXPECT_EQ(
      m.rows("SELECT o.title FROM notes n JOIN observations o ON o.id = n.observation_id ORDER BY o.id"),
      (std::vector<std::string>{"Key Patterns", "Known Gotchas"}))
      << "not the section that nobody filled in";
  EXPECT_EQ(m.rows("SELECT text, opened_at_epoch FROM open_items ORDER BY id"),
            (std::vector<std::string>{"Run the load test|1768022100000",
                                      "Remove the old worker once it is idle|1768022100000",
                                      "HIGH: Ask for access|1768022100000"}));
  Chat now;
  now.cwd = "/home/dev/app";
  const std::string context = Machine::context_of(m.ask(now.start()));
  EXPECT_NE(context.find("Every job is idempotent"), std::string::npos) << context;
  EXPECT_NE(context.find("Run the load test"), std::string::npos) << context;
  EXPECT_NE(context.find("bench/load.sh"), std::string::npos) << context;
}

TEST_F(FilesTest, CopiesOfTranscriptsAreVersionsOfABackupAndASession) {
  fill();
  const Json result = import();
  EXPECT_EQ(result["found"].dump(),
            R"({"backups":3,"documents":2,"notes":2,"observations":1,"open items":3,"sessions":1})");
  EXPECT_EQ(m.rows("SELECT content_session_id, version, lines FROM backups ORDER BY id"),
            (std::vector<std::string>{kRawSession + "|1|2", kRawSession + "|2|4",
                                      "claude-memory-20260110_060000Z_|1|1"}));
  EXPECT_EQ(
      m.rows("SELECT content_session_id, project, prompt_count, status FROM sdk_sessions WHERE hidden = 0"),
      (std::vector<std::string>{kRawSession + "|app|2|completed"}));
  // Only what a marker named is pending; and the sweep takes no copy for a session of its own.
  EXPECT_EQ(m.rows("SELECT content_session_id, backup_id FROM backup_discards ORDER BY 1"),
            (std::vector<std::string>{kRawSession + "|1", "claude-memory-20260110_060000Z_|3"}));
  for (int i = 0; i < 25; ++i) {
    m.clock.advance(std::chrono::minutes(1));
    must(m.engine->tick());
    must(m.drain());
  }
  EXPECT_EQ(m.number("SELECT count(DISTINCT content_session_id) FROM backups"), 2);
}

TEST_F(FilesTest, AgainNothingIsAddedAndChangesAreFollowed) {
  fill();
  import();
  const Json again = import(false, kTree);
  EXPECT_EQ(again["found"].dump(), "{}");
  EXPECT_EQ(again["known"].dump(),
            R"({"backups":3,"documents":2,"notes":2,"observations":1,"open items":3,"sessions":1})");
  put("project-memory.md", "# Project Memory\n\n## Key Patterns\n- Every job is idempotent, and logged\n");
  put("sessions/session-2026-01-09-2045.md", "# Billing adapter\n\n## Session Summary\nRewritten.\n");
  const Json changed = import();
  EXPECT_EQ(changed["changed"].dump(), R"({"documents":1,"notes":1})");
  EXPECT_EQ(m.rows("SELECT o.narrative FROM notes n JOIN observations o ON o.id = n.observation_id"),
            (std::vector<std::string>{"Key Patterns:\n- Every job is idempotent, and logged"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM session_documents"), 2);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_documents WHERE body LIKE '%Rewritten%'"), 1);
}

TEST_F(FilesTest, WhatIsDoneStaysDone) {
  fill();
  import();
  must(m.run("done", Json::object({{"ids", Json::array({"W1", "O1"})}})));
  put("active-context.md", m.read(kTree + "/active-context.md") + "\nmore\n");
  put("project-memory.md", m.read(kTree + "/project-memory.md") + "- more\n");
  import();
  EXPECT_EQ(m.number("SELECT count(*) FROM open_items WHERE closed_at IS NULL"), 2);
  EXPECT_EQ(m.number("SELECT count(*) FROM notes WHERE done_at_epoch IS NULL"), 1);
}

TEST_F(FilesTest, ADryRunChangesNothingAndTheFilesAreOnlyRead) {
  fill();
  const std::string before = m.read(kTree + "/active-context.md");
  EXPECT_EQ(import(true)["found"]["documents"].as_int(), 2);
  for (const char* table :
       {"session_documents", "notes", "open_items", "backup_requests", "imports", "projects"})
    EXPECT_EQ(m.number(std::string("SELECT count(*) FROM ") + table), 0) << table;
  import();
  EXPECT_EQ(m.read(kTree + "/active-context.md"), before);
  EXPECT_TRUE(m.disk.stat(kTree + "/.pending-backup-exit"));
}

TEST_F(FilesTest, SecretsAndTemplatesDoNotComeIn) {
  put("active-context.md",
      "# Active Session Context\n> Last Updated: [YYYY-MM-DDTHH:MM:SSZ]\n\n## Current "
      "Task\n[What]\n\n## Next Steps\n1. [First step]\n");
  put("project-memory.md", "## Key Patterns\n- use ghp_16C7e42F292c6912E7710c838347Ae178B4a\n");
  const Json result = import();
  EXPECT_EQ(result["left_out"].dump(), R"({"a template that nobody filled in":1})");
  EXPECT_EQ(m.number("SELECT count(*) FROM open_items"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE narrative LIKE '%ghp_%'"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM notes"), 1);
}

TEST_F(FilesTest, ADirectoryWithoutSuchATreeIsAnError) {
  must(os::make_dirs(m.disk, "/home/dev/empty"));
  for (const char* path : {"/home/dev/empty", "/home/dev/nowhere"})
    EXPECT_FALSE(m.run("import.claude-memory", Json::object({{"directory", path}})));
}

TEST(MarkdownDates, AreReadAsPeopleWriteThem) {
  const auto text = [](std::string_view date) {
    const auto time = importer::read_date(date);
    return time ? iso8601(*time) : std::string();
  };
  EXPECT_EQ(text("2026-01-16T05:15:00Z"), "2026-01-16T05:15:00.000Z");
  EXPECT_EQ(text("2026-01-16T05:15Z"), "2026-01-16T05:15:00.000Z");
  EXPECT_EQ(text(" 2026-01-16 05:15:00 "), "2026-01-16T05:15:00.000Z");
  EXPECT_EQ(text("2026-01-16T05:15:00+09:00"), "2026-01-15T20:15:00.000Z");
  EXPECT_EQ(text("2026-01-16"), "2026-01-16T00:00:00.000Z");
  for (const char* none : {"", "last week", "[YYYY-MM-DDTHH:MM:SSZ]", "2026-13-41T99:99:99Z"})
    EXPECT_EQ(text(none), "") << none;
}

}  // namespace
}  // namespace cairn::test
