// What was forgotten leaves the frames of the archive; versions, line counts and growing go on.
#include "base/text.h"
#include "store/compress.h"
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

}  // namespace
}  // namespace cairn::test
