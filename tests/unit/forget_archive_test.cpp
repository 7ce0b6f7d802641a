// What was forgotten leaves the frames of the archive; versions, line counts and growing go on.
#include <cerrno>

#include "base/text.h"
#include "store/compress.h"
#include "store/scrub.h"
#include "unit/archive_fixture.h"

namespace cairn::test {
namespace {

class ForgetArchive : public ArchiveTest {
 protected:
  Json forget(Json args) {
    args.set("cwd", chat.cwd);
    const Json begun = must(m.run("forget", std::move(args)));
    must(m.drain());
    const Json status = must(m.run("forget.status", Json::object({{"forget", begun["forget"].as_int()}})));
    EXPECT_TRUE(status["done"].as_bool()) << status.dump();
    EXPECT_EQ(status["report"]["left"].as_int(), 0) << status.dump();
    return status["report"];
  }
};

TEST_F(ForgetArchive, RewritesTheLinesOfEveryVersionAndKeepsTheirNumber) {
  begin("make a parser with the zanzibar-canary-7731 key");
  transcript.answer("Made it with zanzibar-canary-7731.");
  end();
  transcript.prompt("now the numbat");
  transcript.answer("The numbat is done.");
  end_again();
  const auto lines = m.text("SELECT group_concat(version || ':' || lines, ' ') FROM backups ORDER BY id");
  ASSERT_NE(lines.find("2:"), std::string::npos);
  const Json report = forget(Json::object({{"query", "zanzibar-canary-7731"}}));
  EXPECT_GT(report["archive_lines"].as_int(), 0);
  EXPECT_EQ(m.text("SELECT group_concat(version || ':' || lines, ' ') FROM backups ORDER BY id"), lines);
  for (const std::string& id : m.rows("SELECT id FROM backups"))
    EXPECT_EQ(restored("B" + id).find("zanzibar"), std::string::npos);
  EXPECT_TRUE(verify()["ok"].as_bool()) << verify().dump();
  const std::string newest = restored("B" + m.text("SELECT max(id) FROM backups"));
  EXPECT_NE(newest.find("The numbat is done."), std::string::npos);
  EXPECT_NE(newest.find("[forgotten]"), std::string::npos);
  // The old files are gone, and the transcript goes on growing into the new ones.
  EXPECT_EQ(files().size(), static_cast<std::size_t>(m.number("SELECT count(*) FROM backup_segments")));
  transcript.prompt("one more bandicoot");
  end_again();
  EXPECT_EQ(m.number("SELECT count(*) FROM backup_bases"), 1);
  EXPECT_TRUE(verify()["ok"].as_bool());
  const std::string grown = restored("B" + m.text("SELECT max(id) FROM backups"));
  EXPECT_NE(grown.find("bandicoot"), std::string::npos);
  EXPECT_EQ(grown.find("zanzibar"), std::string::npos);
}

TEST_F(ForgetArchive, ATranscriptThatIsCopiedAgainDoesNotBringItBack) {
  begin("make a parser with the zanzibar-canary-7731 key of the old house");
  transcript.answer("Made it.");
  end();
  forget(Json::object({{"secret", "zanzibar-canary-7731"}}));
  // The whole file again, as a new base.
  transcript.prompt("a rewritten beginning");
  end_again();
  must(m.db().run("DELETE FROM backups"));
  must(m.db().run("DELETE FROM backup_bases"));
  must(m.db().run("DELETE FROM backup_sources"));
  end_again();
  ASSERT_GT(count(), 0);
  EXPECT_EQ(restored("B" + m.text("SELECT max(id) FROM backups")).find("zanzibar"), std::string::npos);
}

TEST_F(ForgetArchive, ASessionLeavesTheArchive) {
  begin("a session to forget");
  transcript.answer("Done.");
  end();
  ASSERT_EQ(count(), 1);
  forget(Json::object({{"session", "1"}}));
  EXPECT_EQ(count(), 0);
  EXPECT_TRUE(files().empty());
  minutes(30);
  EXPECT_EQ(count(), 0);
}

TEST_F(ForgetArchive, TheTextsOfAToolCallGoWithTheRecordThatCameFromIt) {
  begin("run the deployment");
  const Json input = Json::object({{"command", "deploy bandicoot-99-secret-place"}});
  m.tell(chat.tool("Bash", "t1", input, Json::object({{"stdout", "went to bandicoot-99-secret-place"}})));
  transcript.use("t1", "Bash", input);
  transcript.result("t1", Json::object({{"stdout", "went to bandicoot-99-secret-place"}}), false,
                    "bandicoot");
  transcript.answer("Ran it.");
  m.tell(chat.stop("Ran it."));
  end();
  forget(Json::object({{"ids", Json::array({"S1"})}}));
  const std::string left = restored("B" + m.text("SELECT max(id) FROM backups"));
  EXPECT_EQ(left.find("bandicoot"), std::string::npos) << left;
  EXPECT_NE(left.find("\"t1\""), std::string::npos);
  EXPECT_TRUE(verify()["ok"].as_bool());
}

// Words that cairn itself writes into the database: states, names of tables, types of observations.
class OwnWord : public ForgetArchive, public ::testing::WithParamInterface<const char*> {
 protected:
  // A session that says the word where a person, an agent and a tool say something.
  void live() {
    const std::string word = GetParam();
    begin("please describe how the quokka service must " + word + " after the migration of its parser");
    const Json input = Json::object({{"command", "echo " + word}});
    m.tell(chat.tool("Bash", "t1", input, Json::object({{"stdout", word + " is what it printed"}})));
    transcript.use("t1", "Bash", input);
    transcript.result("t1", Json::object({{"stdout", word}}), false, word);
    m.tell(chat.stop("Decided: the quokka service must " + word + " after the migration of its parser."));
    m.tell(chat.prompt("document the numbat in the manual"));
    transcript.prompt("document the numbat in the manual");
    transcript.answer("The numbat is documented.");
    m.tell(chat.stop("The numbat is documented."));
    must(m.run("remember", Json::object({{"cwd", chat.cwd}, {"text", "wombats dig"}, {"type", "decision"}})));
    end();
  }
  std::vector<std::string> states() {
    std::vector<std::string> all;
    for (const char* sql :
         {"SELECT DISTINCT end_reason FROM turns", "SELECT DISTINCT source FROM texts",
          "SELECT DISTINCT source, name FROM events", "SELECT DISTINCT type FROM observations",
          "SELECT DISTINCT cause FROM backups", "SELECT source FROM injections"})
      for (std::string& row : m.rows(sql)) all.push_back(std::move(row));
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Forget, OwnWord, ::testing::Values("stop", "transcript", "decision"));

TEST_P(OwnWord, GoesWithTheRecordsThatSayItAndStaysElsewhere) {
  live();
  Json args = Json::object({{"query", GetParam()}, {"cwd", chat.cwd}, {"dry_run", true}});
  const Json shown = must(m.run("forget", args));
  EXPECT_TRUE(shown["own_word"].as_bool()) << shown.dump();
  EXPECT_FALSE(shown["everywhere"].as_bool()) << shown.dump();
  forget(Json::object({{"query", GetParam()}}));
  for (const char* gone : {"quokka", "migration"})
    EXPECT_TRUE(
        must(m.run("search", Json::object({{"all", true}, {"query", gone}})))["results"].items().empty());
  const std::string stored = restored("B" + m.text("SELECT max(id) FROM backups"));
  EXPECT_EQ(stored.find("quokka"), std::string::npos) << stored;
  EXPECT_NE(stored.find("The numbat is documented."), std::string::npos) << stored;
  EXPECT_NE(stored.find("\"stop_reason\""), std::string::npos) << stored;
}

TEST_P(OwnWord, ThatIsRemovedAsASecretLeavesTheStates) {
  live();
  const auto before = states();
  const Json begun = must(m.run("forget", Json::object({{"all", true}, {"secret", GetParam()}})));
  must(m.drain());
  const Json status = must(m.run("forget.status", Json::object({{"forget", begun["forget"].as_int()}})));
  EXPECT_TRUE(status["done"].as_bool()) << status.dump() << m.log.all();
  EXPECT_EQ(states(), before);
}

TEST_F(ForgetArchive, EveryTextOfEveryRowCanBeReplaced) {
  begin("always use the quokka parser");
  m.tell(chat.wrote("notes.md", "t1"));
  m.tell(chat.stop("Decided: the quokka parser it is. Next step: tell the team."));
  must(m.run("open", Json::object({{"cwd", chat.cwd}, {"text", "tell the team"}})));
  must(m.run("reject", Json::object({{"id", "S1"}, {"reason", "wrong"}})));
  end();
  const auto change = [](std::string_view) { return std::optional(store::Changed{"another text", true}); };
  std::string position;
  do {
    const auto step = store::scrub_rows(m.db(), position, change, false, [] { return true; });
    ASSERT_TRUE(step.ok()) << position << ": " << step.error().message;
    position = step->position;
  } while (!position.empty());
}

TEST_F(ForgetArchive, AFailureIsInTheReportUntilAStepWorks) {
  begin("make a parser with the zanzibar-canary-7731 key");
  must(
      m.db().run("CREATE TRIGGER fails BEFORE UPDATE OF prompt_text ON user_prompts BEGIN SELECT "
                 "RAISE(ABORT, 'out of paper'); END"));
  const Json begun = must(m.run("forget", Json::object({{"all", true}, {"secret", "zanzibar-canary-7731"}})));
  const Json number = Json::object({{"forget", begun["forget"].as_int()}});
  minutes(2);
  Json status = must(m.run("forget.status", number));
  EXPECT_FALSE(status["done"].as_bool());
  EXPECT_NE(status["report"]["error"].as_string().find("out of paper"), std::string::npos) << status.dump();
  must(m.db().run("DROP TRIGGER fails"));
  minutes(2);
  status = must(m.run("forget.status", number));
  EXPECT_TRUE(status["done"].as_bool()) << status.dump();
  EXPECT_FALSE(status["report"].has("error")) << status.dump();
}

// A machine whose forget has come to the archive, where it rewrites one backup with one passage.
struct AtTheArchive {
  AtTheArchive() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("make a parser"));
    transcript.prompt("make a parser");
    transcript.answer("Made it with zanzibar.");
    transcript.save();
    m.tell(chat.end("other"));
    m.clock.advance(std::chrono::minutes(5));
    must(m.engine->tick());
    must(m.drain());
    EXPECT_EQ(known(), 1);
    must(m.run("forget", Json::object({{"all", true}, {"secret", "zanzibar"}})));
    while (phase() != "archive") must(m.engine->step());
  }
  std::string phase() { return m.text("SELECT phase FROM forgets"); }
  std::int64_t known() {
    return m.number("SELECT count(*) FROM passage_index WHERE passage_index MATCH 'zanzibar'");
  }
  // Works until the archive is done or a call of the disk fails. Returns the number of calls.
  std::uint64_t work() {
    const std::uint64_t before = m.disk.calls(SimDisk::Calls::all);
    while (phase() == "archive" && m.engine->step().value_or(false)) {
    }
    return m.disk.calls(SimDisk::Calls::all) - before;
  }

  Machine m;
  Chat chat;
  TranscriptWriter transcript{m, chat, "", ""};
};

TEST(ForgetPassages, AreIndexedAgainWhateverCallFailsAfterTheirBackupWasRewritten) {
  const std::uint64_t calls = AtTheArchive().work();
  constexpr std::uint64_t kLast = 25;  // those since the files are written
  ASSERT_GT(calls, kLast);
  for (std::uint64_t call = calls - kLast; call <= calls; call += 2) {
    AtTheArchive at;
    at.m.disk.fail_at(call, EIO, SimDisk::Calls::all);
    at.work();
    at.m.disk.clear_faults();
    must(at.m.open());
    must(at.m.drain());
    EXPECT_EQ(at.phase(), "done");
    EXPECT_EQ(at.known(), 0) << "after the failure of call " << call << " of " << calls;
  }
}

}  // namespace
}  // namespace cairn::test
