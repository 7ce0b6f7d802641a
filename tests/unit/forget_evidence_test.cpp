// Evidence: an observation about files that changed since says so and comes later; every record has a source.
#include <gtest/gtest.h>

#include "base/sha1.h"
#include "git/blob.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

TEST(GitBlob, IsWhatGitComputes) {
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(git::blob_id(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(git::blob_id("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
  // Lengths around the block of 64 bytes.
  EXPECT_EQ(sha1(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  EXPECT_EQ(sha1(std::string(56, 'a')), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
  EXPECT_EQ(sha1(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

TEST(GitBlob, LooksAtNothingOutsideOfTheWorkingTree) {
  EXPECT_EQ(git::path_below("/w", "a/b.c"), "/w/a/b.c");
  EXPECT_EQ(git::path_below("/w", "/w/b.c"), "/w/b.c");
  EXPECT_FALSE(git::path_below("/w", "../b.c"));
  EXPECT_FALSE(git::path_below("/w", "a/../../b.c"));
  EXPECT_FALSE(git::path_below("/w", "/etc/passwd"));
  EXPECT_FALSE(git::path_below("", "b.c"));
}

class Evidence : public testing::Test {
 protected:
  Evidence() {
    must(m.open());
    must(os::make_dirs(m.disk, chat.cwd));
  }
  Json run(std::string_view name, Json args = Json::object()) { return must(m.run(name, std::move(args))); }
  Json here(std::initializer_list<Json::Member> members = {}) {
    Json args = Json::object({{"cwd", chat.cwd}});
    for (const auto& [key, value] : members) args.set(key, value);
    return args;
  }
  std::string remember(const std::string& text, const std::string& file) {
    const Json made = run("remember", here({{"text", text}, {"file", Json::array({file})}}));
    must(m.drain());
    return std::string(made["id"].as_string());
  }
  void write(const std::string& file, std::string_view text) { m.put_file(chat.cwd + "/" + file, text); }
  std::string context() { return std::string(run("context", here())["text"].as_string()); }
  std::vector<std::string> found(const std::string& words) {
    std::vector<std::string> ids;
    const Json result = run("search", here({{"query", words}, {"kind", "observation"}}));
    for (const Json& hit : result["results"].items())
      ids.push_back(std::string(hit["id"].as_string()) + (hit["stale"].as_bool() ? " stale" : ""));
    return ids;
  }
  Json why(const std::string& id) { return run("why", Json::object({{"id", id}})); }

  Machine m;
  Chat chat;
};

TEST_F(Evidence, AnObservationRecordsTheBlobOfItsFilesAndIsStaleWhenTheyChange) {
  write("lexer.cpp", "int a;\n");
  const std::string id = remember("the quokka lexer keeps one token of look-ahead", "lexer.cpp");
  EXPECT_EQ(m.text("SELECT blob FROM observation_files"), git::blob_id("int a;\n"));
  EXPECT_EQ(found("quokka"), std::vector<std::string>{id});
  EXPECT_EQ(context().find("file changed since"), std::string::npos);
  write("lexer.cpp", "int b;\n");
  EXPECT_EQ(found("quokka"), std::vector<std::string>{id + " stale"});
  EXPECT_NE(context().find("(file changed since)"), std::string::npos) << context();
  EXPECT_EQ(why(id)["changed_files"].items().size(), 1u);
  EXPECT_EQ(why(id)["trust"].as_string(), "confirmed") << "the user's own word stays";
  // The old content is back: it holds again.
  write("lexer.cpp", "int a;\n");
  EXPECT_EQ(found("quokka"), std::vector<std::string>{id});
  must(m.disk.remove(chat.cwd + "/lexer.cpp"));
  EXPECT_EQ(found("quokka"), std::vector<std::string>{id + " stale"}) << "the file is gone";
}

TEST_F(Evidence, AStaleOneComesAfterOneThatStillHolds) {
  write("a.cpp", "one");
  write("b.cpp", "one");
  const std::string first = remember("the numbat parser is recursive here", "a.cpp");
  const std::string second = remember("the numbat parser is recursive there", "b.cpp");
  const auto before = found("numbat parser recursive");
  ASSERT_EQ(before.size(), 2u);
  write(before[0] == first ? "a.cpp" : "b.cpp", "two");
  const auto after = found("numbat parser recursive");
  EXPECT_EQ(after, (std::vector<std::string>{before[1], before[0] + " stale"}));
}

TEST_F(Evidence, WhatTheDistillerLearnedIsStaleToo) {
  write("wombat.cpp", "one\ntwo\n");
  m.tell(chat.start());
  m.tell(chat.prompt("write the wombat parser"));
  m.tell(chat.wrote("wombat.cpp", "t1"));
  m.tell(chat.stop("Decided: the wombat parser is recursive, because tables are slow."));
  ASSERT_GT(m.number("SELECT count(*) FROM observation_files WHERE blob NOT IN ('', '-')"), 0);
  const std::string id =
      "O" + m.text("SELECT observation_id FROM observation_files WHERE blob <> '-' LIMIT 1");
  EXPECT_EQ(why(id)["trust"].as_string(), "candidate");
  write("wombat.cpp", "another\n");
  EXPECT_EQ(why(id)["trust"].as_string(), "stale");
  EXPECT_EQ(why(id)["events"].items().empty(), false);
}

TEST_F(Evidence, NothingIsClaimedWhereNothingIsKnown) {
  // No such file when it was made; a file outside; a tree that is not here.
  const std::string none = remember("about the dunnart file", "dunnart.cpp");
  const std::string outside = remember("about the bilby file", "../bilby.cpp");
  write("dunnart.cpp", "now it is here");
  EXPECT_EQ(found("dunnart"), std::vector<std::string>{none});
  EXPECT_EQ(found("bilby"), std::vector<std::string>{outside});
  write("potoroo.cpp", "one");
  const std::string moved = remember("about the potoroo file", "potoroo.cpp");
  must(m.db().run("UPDATE projects SET root = '/home/dev/code/gone'"));
  EXPECT_EQ(found("potoroo"), std::vector<std::string>{moved});
}

TEST_F(Evidence, AnOldTurnThatIsDistilledAgainSaysNothingAboutTheFilesOfNow) {
  write("wombat.cpp", "one\n");
  m.tell(chat.start());
  m.tell(chat.prompt("write the wombat parser"));
  m.tell(chat.wrote("wombat.cpp", "t1"));
  m.tell(chat.stop("Wrote the wombat parser."));
  const std::string blob = m.text("SELECT max(blob) FROM observation_files");
  EXPECT_EQ(blob, git::blob_id("one\n"));
  m.clock.advance(std::chrono::hours(48));
  write("wombat.cpp", "two\n");
  must(m.db().run("UPDATE observation_files SET blob = ''"));
  must(m.drain());
  EXPECT_EQ(m.text("SELECT max(blob) FROM observation_files"), "-");
}

TEST_F(Evidence, EveryKindOfRecordHasASource) {
  m.tell(chat.start());
  m.tell(chat.prompt("teach the quokka lexer to read trigraphs"));
  m.tell(chat.tool_failure("Bash", "t1", Json::object({{"command", "make quokka"}}),
                           "Exit code 2\nfatal: the quokka lexer cannot read trigraphs in this shell"));
  m.tell(chat.wrote("quokka.cpp", "t2"));
  m.tell(chat.stop("Decided: the port is 4711, because 4710 is taken. Next step: test the wombat."));
  const Json note = run("remember", here({{"text", "a person's note"}}));
  const Json said = run("remember", here({{"text", "an agent's note"}, {"by", "agent"}}));
  EXPECT_EQ(why(std::string(note["id"].as_string()))["actor"].as_string(), "person");
  EXPECT_EQ(why(std::string(said["id"].as_string()))["events"].items().size(), 1u);
  for (const auto& [letter, table] :
       {std::pair("O", "observations"), std::pair("S", "session_summaries"), std::pair("P", "user_prompts"),
        std::pair("T", "texts"), std::pair("W", "open_items")}) {
    const auto rows = m.rows("SELECT id FROM " + std::string(table));
    EXPECT_FALSE(rows.empty()) << table;
    for (const std::string& row : rows) {
      const Json record = why(letter + row);
      EXPECT_TRUE(!record["events"].items().empty() || record["actor"].as_string() == "person")
          << record.dump();
      for (const Json& event : record["events"].items())
        EXPECT_TRUE(event.has("event_id") && event["time"].is_string()) << event.dump();
    }
  }
  // Texts that retention removed are named with the day.
  m.clock.advance(std::chrono::hours(24 * 200));
  must(m.engine->tick());
  must(m.drain());
  const Json old = why("S1");
  ASSERT_FALSE(old["events"].items().empty());
  bool expired = false;
  for (const Json& event : old["events"].items()) expired = expired || event["expired_at"].is_string();
  EXPECT_TRUE(expired) << old.dump();
}

}  // namespace
}  // namespace cairn::test
