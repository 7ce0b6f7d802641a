// What the host keeps beside its transcripts: the list of prompts, and notes of its own.
#include <gtest/gtest.h>

#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

const std::string kConfig = "/home/dev/.claude";
const std::string kGone = "99999999-aaaa-4bbb-8ccc-000000000009";
const std::string kThere = "88888888-aaaa-4bbb-8ccc-000000000008";

class HistoryTest : public ::testing::Test {
 protected:
  Machine m;
  std::string history;

  void SetUp() override {
    must(m.open());
    must(os::make_dirs(m.disk, kConfig + "/projects/-home-dev-my-app/memory"));
    must(os::make_dirs(m.disk, "/home/dev/my-app"));
  }
  void prompt(const std::string& session, std::string_view words, std::int64_t at,
              Json pasted = Json::object()) {
    Json line = Json::object({{"display", words},
                              {"pastedContents", std::move(pasted)},
                              {"timestamp", at},
                              {"project", "/home/dev/my-app"}});
    if (!session.empty()) line.set("sessionId", session);
    history += line.dump() + "\n";
    m.put_file(kConfig + "/history.jsonl", history);
  }
  void transcript(const std::string& session, std::string_view words) {
    const std::string line = Json::object({{"type", "user"},
                                           {"uuid", "u1"},
                                           {"sessionId", session},
                                           {"cwd", "/home/dev/my-app"},
                                           {"isSidechain", false},
                                           {"timestamp", iso8601(m.clock.now())},
                                           {"message", Json::object({{"role", "user"}, {"content", words}})}})
                                 .dump();
    m.put_file(kConfig + "/projects/-home-dev-my-app/" + session + ".jsonl", line + "\n");
    m.clock.advance(std::chrono::hours(1));
  }
  Json import(bool dry_run = false) {
    const Json result =
        must(m.run("import.transcripts", Json::object({{"directory", kConfig}, {"dry_run", dry_run}})));
    must(m.drain());
    return result;
  }
  std::vector<std::string> prompts() {
    return m.rows(
        "SELECT content_session_id, prompt_number, prompt_text, created_at_epoch FROM user_prompts "
        "ORDER BY created_at_epoch");
  }
};

TEST_F(HistoryTest, ASessionWhoseTranscriptIsGoneKeepsItsPrompts) {
  transcript(kThere, "Still there");
  prompt(kThere, "Still there", 1'750'000'000'000);
  prompt(kGone, "Rename the walrus module", 1'750'000'100'000);
  prompt(kGone, "/clear", 1'750'000'150'000);
  prompt(kGone, "Now its tests [Pasted text #1]", 1'750'000'200'000,
         Json::object({{"1", Json::object({{"type", "text"}, {"content", "walrus_test failed"}})}}));
  m.put_file(kConfig + "/history.jsonl", history + "broken line\n{\"display\":\"no time\"}\n[1]\n");
  const Json result = import();
  EXPECT_EQ(result["prompts_only"]["found"].dump(), R"({"prompts":2,"sessions":1})");
  EXPECT_EQ(
      m.rows("SELECT content_session_id, prompt_number, prompt_text, created_at_epoch FROM user_prompts "
             "WHERE content_session_id = '" +
             kGone + "' ORDER BY 2"),
      (std::vector<std::string>{
          kGone + "|1|Rename the walrus module|1750000100000",
          kGone + "|2|Now its tests [Pasted text #1]\nwalrus_test failed|1750000200000"}));
  EXPECT_EQ(
      m.rows("SELECT project, status, end_reason, imported FROM sdk_sessions WHERE content_session_id = '" +
             kGone + "'"),
      (std::vector<std::string>{"my-app|completed|prompts only|1"}));
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts WHERE content_session_id = '" + kThere + "'"), 1);
  const Json found = must(m.run("search", Json::object({{"query", "walrus"}, {"all", true}})));
  EXPECT_EQ(found["results"].items().size(), 2u) << found.dump(1);
}

TEST_F(HistoryTest, AgainOnlyNewPromptsCome) {
  prompt(kGone, "Rename the walrus module", 1'750'000'100'000);
  import();
  EXPECT_EQ(import()["prompts_only"]["found"].dump(), "{}");
  prompt(kGone, "Now its tests", 1'750'000'200'000);
  EXPECT_EQ(import()["prompts_only"]["found"].dump(), R"({"prompts":1})");
  EXPECT_EQ(prompts().size(), 2u);
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 1);
}

TEST_F(HistoryTest, PromptsWithoutASessionAreGroupedByTheirTime) {
  prompt("", "In the morning", 1'750'000'000'000);
  prompt("", "A little later", 1'750'000'600'000);
  prompt("", "The next day", 1'750'090'000'000);
  import();
  EXPECT_EQ(m.rows("SELECT prompt_count FROM sdk_sessions ORDER BY started_at_epoch"),
            (std::vector<std::string>{"2", "1"}));
  EXPECT_EQ(import()["prompts_only"]["found"].dump(), "{}");
}

TEST_F(HistoryTest, ADryRunChangesNothing) {
  prompt(kGone, "Rename the walrus module", 1'750'000'100'000);
  m.put_file(kConfig + "/projects/-home-dev-my-app/memory/MEMORY.md", "# Memory\n- use make\n");
  const Json result = import(true);
  EXPECT_EQ(result["prompts_only"]["found"]["prompts"].as_int(), 1);
  EXPECT_EQ(result["host_notes"]["added"].as_int(), 1);
  for (const char* table : {"user_prompts", "observations", "import_jobs", "import_aliases", "projects"})
    EXPECT_EQ(m.number(std::string("SELECT count(*) FROM ") + table), 0) << table;
}

TEST_F(HistoryTest, TheHostsOwnNotesAreFoundFollowedAndNotGivenAgain) {
  const std::string folder = kConfig + "/projects/-home-dev-my-app/memory/";
  m.put_file(folder + "MEMORY.md", "# Memory\n- [Build](build.md) how to build\n");
  m.put_file(folder + "build.md",
             "---\nname: build\ndescription: How the walrus is built\n---\nUse make walrus, with "
             "ghp_16C7e42F292c6912E7710c838347Ae178B4a.\n");
  EXPECT_EQ(import()["host_notes"]["added"].as_int(), 2);
  EXPECT_EQ(m.rows("SELECT project, title FROM observations ORDER BY title"),
            (std::vector<std::string>{"my-app|How the walrus is built", "my-app|Memory"}));
  EXPECT_EQ(m.text("SELECT key FROM projects"), "/home/dev/my-app") << "not /home/dev/my/app";
  EXPECT_EQ(m.number("SELECT count(*) FROM observations WHERE narrative LIKE '%ghp_%'"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM notes"), 0) << "the host gives them itself";
  EXPECT_EQ(import()["host_notes"]["known"].as_int(), 2);
  const std::string id = m.text("SELECT id FROM observations WHERE title LIKE 'How%'");
  m.put_file(folder + "build.md", "---\ndescription: How the walrus is built\n---\nUse ninja walrus.\n");
  EXPECT_EQ(import()["host_notes"]["changed"].as_int(), 1);
  EXPECT_EQ(m.rows("SELECT narrative FROM observations WHERE id = " + id),
            (std::vector<std::string>{"Use ninja walrus."}));
}

}  // namespace
}  // namespace cairn::test
