// The search index: what is in it, rebuilding it, and queries that nobody would type.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "recall/how.h"
#include "recall/search.h"
#include "recall/times.h"
#include "store/documents.h"
#include "store/identity.h"
#include "store/observations.h"
#include "store/reindex.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class IndexTest : public testing::Test {
 protected:
  IndexTest() { must(m.open()); }

  Json search(std::string_view query, std::initializer_list<Json::Member> more = {}) {
    Json args = Json::object({{"query", query}});
    for (const auto& [key, value] : more) args.set(key, value);
    if (!args.has("all") && !args.has("project")) args.set("cwd", chat.cwd);
    return must(m.run("search", args));
  }
  std::string ids(const Json& found) {
    std::string out;
    for (const Json& result : found["results"].items())
      out += (out.empty() ? "" : " ") + std::string(result["id"].as_string());
    return out;
  }
  std::int64_t observe(const std::string& title, const std::string& project = "proj") {
    m.clock.advance(std::chrono::minutes(1));
    store::Observation o;
    o.project = project;
    o.title = title;
    o.created_at = m.clock.now();
    const std::int64_t session =
        m.number("SELECT min(id) FROM sdk_sessions WHERE project = '" + project + "'");
    const MemoryId memory = must(store::ensure_memory_id(m.db(), SessionId{session}, m.clock.now()));
    return must(store::add_observation(m.db(), memory, o)).value;
  }
  // Every word of an index and where it stands.
  std::vector<std::string> words(const std::string& table) {
    must(m.db().exec("DROP TABLE IF EXISTS temp.w; CREATE VIRTUAL TABLE temp.w USING fts5vocab(main, " +
                     table + ", instance)"));
    std::vector<std::string> rows = m.rows("SELECT term, doc, col, offset FROM temp.w ORDER BY 2, 3, 4, 1");
    must(m.db().exec("DROP TABLE temp.w"));
    return rows;
  }

  Machine m;
  Chat chat;
};

TEST_F(IndexTest, ADocumentIsFoundByItsTextUntilItIsInTheTrash) {
  m.tell(chat.prompt("hello"));
  store::Document document;
  document.project = "proj";
  document.title = "Release plan";
  document.body = "The quokka release waits for the auditors.";
  document.created_at = m.clock.now();
  const std::int64_t id = must(store::add_document(m.db(), document));
  EXPECT_EQ(ids(search("quokka")), "D" + std::to_string(id));
  EXPECT_EQ(ids(search("quokka kind:document")), "D" + std::to_string(id));
  document.id = id;
  document.body = "The wombat release.";
  must(store::update_document(m.db(), document, m.clock.now()));
  EXPECT_EQ(ids(search("quokka")), "");
  EXPECT_EQ(must(m.run("show", Json::object({{"ids", Json::array({"D1"})}})))["records"]
                .items()[0]["text"]
                .as_string(),
            "The wombat release.");
  must(store::trash_document(m.db(), id, m.clock.now()));
  EXPECT_EQ(ids(search("wombat")), "");
}

TEST_F(IndexTest, WhatOnlyAToolPrintedIsFoundAndShown) {
  m.tell(chat.prompt("measure it"));
  m.tell(chat.tool("Bash", "t1", Json::object({{"command", "make bench"}, {"description", "Measure"}}),
                   Json::object({{"stdout", "peak quokka usage 1894 MiB"}, {"stderr", ""}})));
  m.tell(chat.stop("Measured."));
  const Json found = search("quokka usage");
  ASSERT_EQ(found["results"].items().size(), 1u);
  const Json& hit = found["results"].items()[0];
  EXPECT_TRUE(hit["id"].as_string().starts_with("E"));
  const Json shown = must(m.run("show", Json::object({{"ids", Json::array({hit["id"]})}})));
  EXPECT_NE(shown["records"].items()[0]["text"].as_string().find("1894 MiB"), std::string_view::npos);
  EXPECT_TRUE(m.run("why", Json::object({{"id", hit["id"]}})).ok());
  // Its words go with its evidence.
  must(m.db().exec("DELETE FROM evidence"));
  EXPECT_EQ(ids(search("quokka usage")), "");
}

TEST_F(IndexTest, HowNamesTheCommandThatWorkedLast) {
  m.tell(chat.prompt("make it pass"));
  m.tell(chat.tool_failure("Bash", "t1",
                           Json::object({{"command", "npm test"}, {"description", "Run tests"}}),
                           "Exit code 1\nMissing script: \"test\""));
  m.tell(chat.tool("Bash", "t2",
                   Json::object({{"command", "npx vitest run"}, {"description", "Run the unit tests"}}),
                   Json::object({{"stdout", "12 passed"}, {"stderr", ""}})));
  m.tell(chat.stop("It passes."));
  const Json found = must(m.run("how", Json::object({{"words", "run the tests"}, {"cwd", chat.cwd}})));
  ASSERT_EQ(found["commands"].items().size(), 1u) << found.dump();
  EXPECT_EQ(found["commands"].items()[0]["command"].as_string(), "npx vitest run");
  const Json asked = search("how do I run the tests");
  ASSERT_FALSE(asked["commands"].items().empty()) << "search answers it too";
  EXPECT_EQ(asked["commands"].items()[0]["command"].as_string(), "npx vitest run");
  EXPECT_TRUE(
      must(m.run("how", Json::object({{"words", "deploy"}, {"cwd", chat.cwd}})))["commands"].items().empty());
}

TEST_F(IndexTest, ARebuiltIndexEqualsTheOneThatGrewWhateverHappensMeanwhile) {
  std::mt19937 random(5);
  m.tell(chat.start());
  m.tell(chat.prompt("the first prompt about lexers"));
  m.tell(chat.stop("Answered about lexers."));
  const auto change = [&](int i) {
    const std::string text = "word" + std::to_string(random() % 50) + " parseHeader" + std::to_string(i);
    switch (random() % 5) {
      case 0: observe(text); break;
      case 1:
        must(m.db().run("UPDATE observations SET title = ? WHERE id % 7 = ?", text, random() % 7));
        break;
      case 2: must(m.db().run("DELETE FROM observations WHERE id = ?", 1 + random() % 60)); break;
      case 3:
        must(m.db().run("UPDATE observations SET deleted_at = 'now' WHERE id = ?", 1 + random() % 60));
        break;
      default: must(m.db().run("UPDATE user_prompts SET prompt_text = ?", text)); break;
    }
  };
  for (int i = 0; i < 60; ++i) observe("record " + std::to_string(i) + " of lexer words");
  for (int i = 0; i < 30; ++i) change(i);
  ASSERT_TRUE(must(m.run("reindex"))["started"].as_bool());
  EXPECT_FALSE(must(m.run("reindex"))["started"].as_bool()) << "one at a time";
  for (int i = 0; must(store::is_reindexing(m.db())); ++i) {
    must(store::in_transaction(m.db(), [&]() -> Status {
      TRY(store::reindex_step(m.db(), 5));
      return {};
    }));
    change(100 + i);
    EXPECT_FALSE(search("lexer")["results"].items().empty()) << "searches go on";
  }
  for (int i = 0; i < 10; ++i) change(500 + i);
  const auto grown = words("memory_index");
  ASSERT_TRUE(must(m.run("reindex"))["started"].as_bool());
  must(m.drain());
  EXPECT_EQ(words("memory_index"), grown);
  EXPECT_EQ(m.number("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'rebuild%' OR name LIKE '%_next%'"),
            0);
  must(m.db().exec("INSERT INTO memory_index(memory_index) VALUES('integrity-check')"));
}

// An entry of a call that is inserted a second time could never be deleted.
TEST_F(IndexTest, ARebuildRemovesTheEntriesOfCallsFirst) {
  m.tell(chat.prompt("count the walnuts"));
  m.tell(
      chat.tool("Bash", "t1", Json::object({{"command", "ls"}}), Json::object({{"stdout", "walnuts.txt"}})));
  m.tell(chat.stop("Counted."));
  must(m.drain());
  const auto found = [&] {
    return m.number("SELECT count(*) FROM event_index WHERE event_index MATCH 'walnuts'");
  };
  ASSERT_EQ(found(), 1);
  must(m.run("reindex"));
  while (must(store::is_reindexing(m.db())))
    must(store::in_transaction(m.db(), [&]() -> Status {
      TRY(store::reindex_step(m.db(), 100));
      return {};
    }));
  EXPECT_EQ(found(), 0);
  must(m.drain());
  EXPECT_EQ(found(), 1);
}

TEST_F(IndexTest, ARebuildGoesOnAfterTheDaemonDied) {
  m.tell(chat.prompt("the first prompt about lexers"));
  m.tell(chat.stop("Answered."));
  m.tell(chat.end());
  for (int i = 0; i < 300; ++i) observe("record " + std::to_string(i));
  const auto before = words("memory_index");
  must(m.run("reindex"));
  must(store::in_transaction(m.db(), [&]() -> Status {
    TRY(store::reindex_step(m.db(), 5));
    return {};
  }));
  m.close();
  must(m.open());
  must(m.drain());
  EXPECT_FALSE(must(store::is_reindexing(m.db())));
  EXPECT_EQ(words("memory_index"), before);
}

std::string hostile_query(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"giraffe",
                                                   "\"",
                                                   "OR",
                                                   "AND",
                                                   "NOT",
                                                   "NEAR(",
                                                   ")",
                                                   "(",
                                                   "*",
                                                   "^",
                                                   "-",
                                                   "type:",
                                                   "file:",
                                                   "since:",
                                                   "until:",
                                                   "project:",
                                                   "host:",
                                                   "kind:",
                                                   "{title}",
                                                   ":",
                                                   "scope:",
                                                   "\xff",
                                                   "\xf0\x9f\xa6\x92",
                                                   "検索",
                                                   "last tuesday",
                                                   "in may",
                                                   "p70726f6a",
                                                   "' OR 1=1 --",
                                                   ";",
                                                   "\n",
                                                   "parse_header",
                                                   "99999999999999999999",
                                                   "2w",
                                                   "yesterday",
                                                   "the",
                                                   "a.b.c",
                                                   "%",
                                                   "_",
                                                   "zebra",
                                                   "kprompt",
                                                   "memory_index",
                                                   "\t",
                                                   "proj-two",
                                                   "src/x.cpp",
                                                   "E1",
                                                   "--all",
                                                   "--"};
  std::string query;
  for (unsigned i = random() % 12 + 1; i > 0; --i) {
    query += kPieces[random() % kPieces.size()];
    if (random() % 4) query += ' ';
    if (random() % 9 == 0) query += static_cast<char>(random());
  }
  return query;
}

// CAIRN_FULL=1 asks all of them.
TEST_F(IndexTest, RandomAndHostileQueriesNeverFailAndNeverLeaveTheirProject) {
  m.tell(chat.prompt("the giraffe of this project, parse_header"));
  m.tell(chat.ran("make giraffe", "t1"));
  m.tell(chat.stop("The giraffe is done."));
  Chat other;
  other.session = "other";
  other.cwd = "/home/dev/code/proj-two";
  m.tell(other.prompt("the zebra and the giraffe of another project"));
  m.tell(other.ran("make zebra", "t2"));
  m.tell(other.stop("The zebra is done."));
  for (int i = 0; i < 40; ++i) observe("giraffe " + std::to_string(i)), observe("zebra giraffe", "proj-two");
  std::mt19937 random(11);
  const char* full = std::getenv("CAIRN_FULL");
  const int count = full && *full ? 10'000 : 400;
  for (int i = 0; i < count; ++i) {
    const std::string query =
        i % 50 == 0 ? std::string(100'000, static_cast<char>(random())) : hostile_query(random);
    const auto found = m.run("search", Json::object({{"query", query}, {"cwd", chat.cwd}, {"agent", true}}));
    if (!found) {
      EXPECT_EQ(found.error().code, Code::denied) << query << ": " << found.error().message;
      EXPECT_NE(query.find("project:"), std::string::npos);
      continue;
    }
    for (const Json& result : (*found)["results"].items())
      ASSERT_EQ(result["project"].as_string(), "proj") << query;
  }
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(search("giraffe " + std::to_string(i))["results"].items().empty()) << "its own are found";
}

TEST(Times, AreReadFromPlainWords) {
  setenv("TZ", "UTC", 1);
  const WallTime now = parse_iso8601("2026-11-17T12:00:00.000Z").value();  // a Tuesday
  const auto from = [&](std::string_view text) {
    const auto span = recall::time_in(text, now);
    return span ? iso8601(span->from).substr(0, 10) + " " + iso8601(span->to).substr(0, 10) : std::string();
  };
  EXPECT_EQ(from("what did we do last Tuesday"), "2026-11-10 2026-11-10");
  EXPECT_EQ(from("what did we do yesterday?"), "2026-11-16 2026-11-16");
  EXPECT_EQ(from("the release in March"), "2026-03-01 2026-03-31");
  EXPECT_EQ(from("the meeting on 8 May 2023"), "2023-05-08 2023-05-08");
  EXPECT_EQ(from("two days ago"), "2026-11-15 2026-11-15");
  EXPECT_EQ(from("last week"), "2026-11-09 2026-11-15");
  EXPECT_EQ(from("this may fail"), "");
  EXPECT_EQ(from("march on"), "");
  EXPECT_EQ(from("yesterday or last week"), "") << "two times are none";
  EXPECT_EQ(recall::day_in_words(now), "tuesday 17 november 2026");
}

}  // namespace
}  // namespace cairn::test
