// Search over what sessions left: what is found, in which order, and at what cost.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <ctime>
#include <numeric>
#include <set>

#include "recall/search.h"
#include "store/identity.h"
#include "store/observations.h"
#include "store/sessions.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class SearchTest : public testing::Test {
 protected:
  SearchTest() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("fix the lexer so that wide words are one token"));
    m.tell(chat.wrote("src/lexer.cpp", "t1"));
    m.tell(chat.stop("The lexer reads wide words as one token."));
    // What the distiller made of it is not the subject here.
    must(m.db().exec("DELETE FROM observations; DELETE FROM sqlite_sequence WHERE name = 'observations'"));
  }

  // An observation of the session, a minute after the one before.
  std::string observe(const std::string& title, const std::string& narrative = "",
                      std::vector<std::string> files = {}, const std::string& type = "change",
                      std::vector<std::string> concepts = {}, const std::string& project = "proj") {
    m.clock.advance(std::chrono::minutes(1));
    store::Observation o;
    o.project = project;
    o.type = type;
    o.title = title;
    o.narrative = narrative;
    o.files_modified = std::move(files);
    o.concepts = std::move(concepts);
    o.created_at = m.clock.now();
    const MemoryId memory = must(store::ensure_memory_id(m.db(), SessionId{1}, m.clock.now()));
    return "O" + std::to_string(must(store::add_observation(m.db(), memory, o)).value);
  }

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
  std::string find(std::string_view query, std::initializer_list<Json::Member> more = {}) {
    return ids(search(query, more));
  }

  Machine m;
  Chat chat;
};

TEST_F(SearchTest, FindsPromptsSummariesAndObservationsByTheirWords) {
  const std::string id =
      observe("Round the total once", "Each line was rounded before it was added.", {"src/cart.py"});
  EXPECT_EQ(find("rounding"), id) << "stems match";
  EXPECT_EQ(find("cart.py"), id) << "files match";
  const Json lexer = search("lexer");
  EXPECT_EQ(find("lexer kind:summary"), "S1");
  EXPECT_EQ(find("lexer kind:prompt"), "P1");
  const Json& first = lexer["results"].items()[0];
  for (const char* key : {"id", "kind", "type", "title", "project", "session", "time", "score", "excerpt"})
    EXPECT_TRUE(first.has(key)) << key;
  EXPECT_EQ(first["project"].as_string(), "proj");
  EXPECT_GT(first["score"].as_double(), 0);
}

TEST_F(SearchTest, FindsAWordWhoseStemHasOtherLetters) {
  const std::string id = observe("A wide eyed reader", "of the sensibility and the policies");
  for (const char* word : {"eyed", "sensibility", "sensible", "policy"}) EXPECT_EQ(find(word), id) << word;
}

TEST_F(SearchTest, FindsTheOtherFormsOfAnIrregularWord) {
  const std::string id = observe("We chose sqlite", "It was given to one machine.");
  EXPECT_EQ(find("why choose"), id);
  EXPECT_EQ(find("choosing"), id);
  EXPECT_EQ(find("who gave it"), id);
  EXPECT_EQ(find("\"choose sqlite\""), "") << "a phrase is meant as it stands";
  const Json marked = search("choose");
  EXPECT_EQ(marked["results"].items()[0]["title_marks"].dump(), "[[3,8]]");
  const Json both = search("choose chose", {{"explain", true}});
  EXPECT_EQ(both["results"].items()[0]["covered"].as_double(), 1) << "they are one word";
}

TEST_F(SearchTest, ShowsATurnOnceByWhatCameOfIt) {
  const Json found = search("lexer");
  EXPECT_EQ(ids(found), "S1") << "not its prompt beside it";
  EXPECT_EQ(found["results"].items()[0]["also"].dump(), R"(["T1","P1"])") << "its answer and its prompt";
  m.tell(chat.prompt("and now the lexer of comments"));
  m.tell(chat.stop("The comments are read."));
  EXPECT_EQ(search("lexer")["results"].items().size(), 2u) << "another turn is another row";
  const Json second = search("lexer", {{"limit", 1}, {"offset", 1}});
  EXPECT_EQ(second["results"].items().size(), 1u);
  EXPECT_FALSE(second["more"].as_bool());
  EXPECT_TRUE(search("lexer", {{"limit", 1}})["more"].as_bool());
}

TEST_F(SearchTest, WhatWasSaidAnywhereInATurnIsFoundByItsSummary) {
  m.tell(chat.prompt("make it faster"));
  m.tell(chat.stop(std::string(3000, 'x') + "\n\nThe quokka cache was never emptied."));
  const Json found = search("quokka");
  EXPECT_EQ(ids(found), "S2");
  EXPECT_NE(found["results"].items()[0]["excerpt"].as_string().find("quokka cache"), std::string_view::npos);
  EXPECT_EQ(ids(search("quokka", {{"kind", "turn"}})), "T2");
}

TEST_F(SearchTest, SaysWhichIdentifierOccursNowhereAsSuch) {
  observe("parseHeader overflows");
  observe("the header of a table");
  EXPECT_EQ(search("parse_header")["absent"].dump(), "[]") << "in any spelling";
  const Json found = search("where is headerTable, parseHeader");
  EXPECT_EQ(found["absent"].dump(), R"(["headerTable"])");
  EXPECT_FALSE(found["results"].items().empty()) << "its parts are found all the same";
  EXPECT_EQ(search("the header")["absent"].dump(), "[]");
}

TEST_F(SearchTest, ShowsThePassageThatMatchedAlsoWhenItIsAFile) {
  observe("Round the total once", "Each line was rounded.", {"src/cart.py"});
  EXPECT_EQ(search("cart.py")["results"].items()[0]["excerpt"].as_string(), "src/cart.py");
}

TEST_F(SearchTest, TakesAnOptionOfAnotherProgramAsWords) {
  const std::string id = observe("git push --force-with-lease is safe");
  EXPECT_EQ(find("push --force-with-lease"), id);
  EXPECT_EQ(find("push -lease"), "") << "one dash leaves out";
}

TEST_F(SearchTest, NeedsOneOfTheWordsAndRanksByHowManyAndHowRare) {
  const std::string one = observe("the parser", "nothing else");
  const std::string both = observe("the parser of floats", "floats are read");
  for (int i = 0; i < 5; ++i) observe("unrelated " + std::to_string(i));
  const std::string found = find("how does the parser treat floats");
  EXPECT_EQ(found.substr(0, found.find(' ')), both);
  EXPECT_NE(found.find(one), std::string::npos);
  const Json none = search("zebra");
  EXPECT_EQ(none["results"].items().size(), 0u);
  EXPECT_EQ(none["remembered_since"].as_string(), m.text("SELECT started_at FROM sdk_sessions WHERE id = 1"));
}

TEST_F(SearchTest, FindsIdentifiersWholeAndInParts) {
  const std::string camel = observe("parseHeader overflows");
  const std::string snake = observe("renamed write_footer_block");
  EXPECT_EQ(find("parse_header"), camel);
  EXPECT_EQ(find("parseheader"), camel);
  EXPECT_EQ(find("header"), camel);
  EXPECT_EQ(find("footer"), snake);
  EXPECT_EQ(find("\"footer block\""), snake);
  EXPECT_EQ(find("WriteFooterBlock"), snake);
}

TEST_F(SearchTest, FindsChineseAndJapaneseWithoutBlanks) {
  const std::string id = observe("記憶を保つための検索機能", "データベース");
  EXPECT_EQ(find("検索"), id);
  EXPECT_EQ(find("データベース"), id);
  EXPECT_EQ(find("保"), id);
  EXPECT_EQ(find("能"), id);
  EXPECT_EQ(find("索引"), "");
}

TEST_F(SearchTest, StaysWithinItsProject) {
  Chat other;
  other.session = "other";
  other.cwd = "/home/dev/code/proj-two";
  m.tell(other.prompt("lexer of another project"));
  m.tell(other.stop());
  const Json own = search("lexer");
  for (const Json& result : own["results"].items()) EXPECT_EQ(result["project"].as_string(), "proj");
  EXPECT_EQ(find("lexer kind:prompt"), "P1");
  EXPECT_EQ(find("lexer kind:prompt", {{"project", "proj-two"}}), "P2");
  EXPECT_EQ(search("lexer kind:prompt", {{"all", true}})["results"].items().size(), 2u);
  EXPECT_EQ(m.run("search", Json::object({{"query", "x"}, {"project", "no"}})).error().code, Code::not_found);
}

TEST_F(SearchTest, FiltersByTypeConceptFileKindAndTime) {
  const std::string fix = observe("token bug", "", {"src/lexer.cpp"}, "bugfix", {"how-it-works"});
  const std::string feature = observe("token feature", "", {"src/parser.cpp"}, "feature");
  EXPECT_EQ(find("token", {{"type", "bugfix"}}), fix);
  EXPECT_EQ(find("token type:Feature"), feature);
  EXPECT_EQ(find("token", {{"concept", "how-it-works"}}), fix);
  EXPECT_EQ(find("token file:parser.cpp"), feature);
  EXPECT_EQ(find("token", {{"file", "src/lexer.cpp"}, {"kind", "observation"}}), fix);
  EXPECT_EQ(find("token", {{"kind", "prompt"}}), "P1");
  EXPECT_EQ(find("token", {{"kind", "summary"}}), "S1");
  m.clock.advance(std::chrono::hours(48));
  const std::string late = observe("token later");
  EXPECT_EQ(find("token", {{"since", "1d"}}), late);
  EXPECT_EQ(find("token since:1d"), late);
  EXPECT_EQ(find("token type:bugfix", {{"until", "1d"}}), fix);
  EXPECT_EQ(m.run("search", Json::object({{"query", "x"}, {"all", true}, {"since", "soon"}})).error().code,
            Code::invalid);
}

TEST_F(SearchTest, GivesTheNewestForFiltersAlone) {
  const std::string a = observe("one", "", {}, "bugfix"), b = observe("two", "", {}, "bugfix");
  EXPECT_EQ(find("type:bugfix"), b + " " + a);
  EXPECT_EQ(find("", {{"kind", "observation"}, {"limit", 1}}), b);
  EXPECT_EQ(find("").substr(0, b.size()), b);
  EXPECT_EQ(find("file:lexer.cpp"), "S1");
}

TEST_F(SearchTest, TakesPhrasesAndLeavesOutWhatIsExcluded) {
  const std::string near = observe("wide words here"), far = observe("words that are wide");
  EXPECT_EQ(find("\"wide words\" kind:observation"), near);
  EXPECT_EQ(find("wide -here kind:observation"), far);
}

TEST_F(SearchTest, GoesOnWithOffset) {
  for (int i = 0; i < 7; ++i) observe("zebra " + std::to_string(i));
  std::string pages;
  for (int offset = 0; offset < 9; offset += 3) {
    const Json page = search("zebra", {{"limit", 3}, {"offset", offset}});
    EXPECT_EQ(page["more"].as_bool(), offset < 4) << offset;
    pages += (pages.empty() ? "" : " ") + ids(page);
  }
  EXPECT_EQ(pages, find("zebra"));
}

TEST_F(SearchTest, ExplainsAScoreAsTheSumOfItsTerms) {
  observe("wide words", "and a token");
  const Json found = search("wide token words parseHeader", {{"explain", true}});
  ASSERT_FALSE(found["results"].items().empty());
  for (const Json& result : found["results"].items()) {
    double sum = 0;
    for (const Json& share : result["explain"].items()) sum += share["score"].as_double();
    EXPECT_NEAR(sum, result["score"].as_double(), 1e-6) << result.dump(2);
  }
}

// Midnight in India is at half past six of UTC's evening.
TEST_F(SearchTest, ARecordHasTheWordsOfItsLocalDayWhereMidnightIsInsideAnHour) {
  setenv("TZ", "IST-5:30", 1);
  tzset();
  m.clock.set_wall(parse_iso8601("2027-03-02T18:20:00.000Z").value());
  const std::string before = observe("zebra in the evening");
  m.clock.set_wall(parse_iso8601("2027-03-02T18:35:00.000Z").value());
  const std::string after = observe("zebra after midnight");
  for (const auto& [day, wanted] : {std::pair("tuesday", before), std::pair("wednesday", after)}) {
    std::string with_day;
    const Json found = search(std::string("zebra ") + day, {{"explain", true}});
    for (const Json& result : found["results"].items())
      for (const Json& share : result["explain"].items())
        if (share["term"].as_string() == std::string("\"") + day + "\"") with_day += result["id"].as_string();
    EXPECT_EQ(with_day, wanted) << found.dump(2);
  }
  unsetenv("TZ");
  tzset();
}

// Ranking reads only pieces of a long session. What stands at the edge of such a piece is no neighbour of
// what stands at the edge of the next one.
TEST_F(SearchTest, OnlyWhatStandsNextToARecordCountsForIt) {
  const std::string words = " of the work that went on all day and had no end";
  int made = 0;  // records with the same text would be one
  const auto step = [&](const std::string& text) {
    return observe("step" + std::to_string(++made), text + words);
  };
  const auto other = [&](int count) {
    for (int i = 0; i < count; ++i) step("more");
  };
  const auto around = [&](const std::string& id) {
    const Json found = search("zebra quokka", {{"explain", true}, {"limit", 50}});
    double score = 0;
    for (const Json& result : found["results"].items())
      for (const Json& share : result["explain"].items())
        if (result["id"].as_string() == id && share["term"].as_string() == "around it")
          score += share["score"].as_double();
    return score;
  };
  other(10);
  observe("zebra quokka");
  other(7);
  step("quokka" + words + words);
  other(20);
  const std::string alone = step("zebra");
  other(20);
  step("quokka" + words + words);
  other(7);
  observe("quokka zebra");
  other(10);
  EXPECT_EQ(around(alone), 0) << "twenty other records stand between";
  const std::string beside = step("zebra");
  other(3);
  step("quokka" + words + words);
  other(20);
  EXPECT_GT(around(beside), 0) << "the fourth after it";
}

TEST_F(SearchTest, MarksWhatMatchedInTitleAndExcerpt) {
  observe("Rounding of totals",
          std::string(400, 'x') + " then the totals were rounded once " + std::string(400, 'y'));
  const Json found = search("rounded total");
  const Json& first = found["results"].items()[0];
  const std::string title(first["title"].as_string()), excerpt(first["excerpt"].as_string());
  std::vector<std::string> marked;
  for (const Json& mark : first["title_marks"].items())
    marked.push_back(
        title.substr(static_cast<std::size_t>(mark.items()[0].as_int()),
                     static_cast<std::size_t>(mark.items()[1].as_int() - mark.items()[0].as_int())));
  EXPECT_EQ(marked, (std::vector<std::string>{"Rounding", "totals"}));
  EXPECT_NE(excerpt.find("totals were rounded once"), std::string::npos) << excerpt;
  ASSERT_EQ(first["excerpt_marks"].items().size(), 2u);
  const auto& mark = first["excerpt_marks"].items()[0].items();
  EXPECT_EQ(excerpt.substr(static_cast<std::size_t>(mark[0].as_int()),
                           static_cast<std::size_t>(mark[1].as_int() - mark[0].as_int())),
            "totals");
}

TEST_F(SearchTest, TakesAnyTextAsAQuery) {
  std::string noise;
  for (int i = 0; i < 100'000; ++i) noise += static_cast<char>(i * 31 + i / 97);
  std::string words;
  for (int i = 0; words.size() < 100'000; ++i) words += "word" + std::to_string(i) + " ";
  for (const std::string& text : {std::string("\""),
                                  std::string("\"\"\""),
                                  std::string("a AND OR NOT (b"),
                                  std::string("NEAR(a b, 3)"),
                                  std::string("title : x"),
                                  std::string("x*"),
                                  std::string("^a + b"),
                                  std::string("-"),
                                  std::string("--"),
                                  std::string("{a}: b"),
                                  std::string("a\0b\0\"", 6),
                                  std::string("🚀🚀"),
                                  std::string("'; DROP TABLE x"),
                                  std::string("%_"),
                                  std::string("file:"),
                                  std::string("file:/ type:🚀"),
                                  std::string("-x -y"),
                                  noise,
                                  words,
                                  std::string(100'000, '"'),
                                  std::string(100'000, '(')})
    for (const bool explain : {false, true}) {
      const auto found =
          m.run("search", Json::object({{"query", text}, {"all", true}, {"explain", explain}}));
      EXPECT_TRUE(found.ok()) << text.substr(0, 40) << ": " << found.error().message;
    }
  EXPECT_EQ(find("🚀🚀"), "");
}

TEST_F(SearchTest, FollowsEveryChangeOfARow) {
  const std::string id = observe("zebra");
  must(m.db().exec("UPDATE observations SET title = 'giraffe'"));
  EXPECT_EQ(find("zebra"), "");
  EXPECT_EQ(find("giraffe"), id);
  must(m.db().exec("UPDATE projects SET name = 'renamed' WHERE name = 'proj'"));
  EXPECT_EQ(find("giraffe", {{"project", "renamed"}}), id);
  must(m.db().exec("UPDATE observations SET deleted_at = 'now'"));
  EXPECT_EQ(find("giraffe", {{"all", true}}), "");
  must(m.db().exec("UPDATE observations SET deleted_at = NULL"));
  EXPECT_EQ(find("giraffe", {{"all", true}}), id);
  must(m.db().exec("DELETE FROM sdk_sessions"));
  EXPECT_EQ(find("giraffe lexer", {{"all", true}}), "");
  must(m.db().exec("INSERT INTO memory_index(memory_index) VALUES('integrity-check')"));
  EXPECT_TRUE(m.db().integrity_check().ok());
}

TEST_F(SearchTest, NothingOfADeletedRowStaysInTheIndex) {
  observe("xylophone quartz");
  must(m.db().exec("DELETE FROM observations"));
  EXPECT_EQ(
      m.number("SELECT count(*) FROM memory_index_data WHERE instr(CAST(block AS TEXT), 'xylophon') > 0"), 0);
  EXPECT_EQ(m.number("SELECT count(*) FROM memory_index_data WHERE instr(hex(block), hex('ylophon')) > 0"),
            0);
  EXPECT_GT(m.number("SELECT count(*) FROM memory_index_data WHERE instr(hex(block), hex('lexer')) > 0"), 0);
}

int note_statement(unsigned, void* seen, void*, void* sql) {
  const std::string text = static_cast<const char*>(sql);
  if (!text.starts_with("--")) static_cast<std::set<std::string>*>(seen)->insert(text);
  return 0;
}

// The index's own tables are walked by their keys; everything else by an index or a row's id.
TEST_F(SearchTest, NoQueryScansALargeTable) {
  observe("token", "", {"a.cpp"}, "bugfix", {"idea"});
  std::set<std::string> statements;
  sqlite3_trace_v2(m.db().raw(), SQLITE_TRACE_STMT, note_statement, &statements);
  search("token words", {{"explain", true}});
  search("token", {{"since", "2w"}});
  search("type:bugfix file:a.cpp");
  search("token", {{"all", true}});
  must(m.run("timeline", Json::object({{"id", "O1"}})));
  must(m.run("why", Json::object({{"id", "S1"}})));
  must(m.run("why", Json::object({{"id", "O1"}})));
  must(m.run("context.log", Json::object({{"cwd", chat.cwd}})));
  must(m.run("remember", Json::object({{"text", "a"}, {"cwd", chat.cwd}})));
  sqlite3_trace_v2(m.db().raw(), 0, nullptr, nullptr);
  std::size_t checked = 0;
  for (const std::string& sql : statements) {
    const bool of_fts5 = sql.find("memory_index_") != std::string::npos ||
                         sql.find("passage_index_") != std::string::npos ||
                         sql.find("event_index_") != std::string::npos;
    if (!sql.starts_with("SELECT") || of_fts5) continue;
    ++checked;
    for (const std::string& step : m.rows("EXPLAIN QUERY PLAN " + sql)) {
      // Inner queries of the index end at a limit; there are few projects.
      const bool few = step.find("SCAN (subquery") != std::string::npos ||
                       step.find("SCAN found") != std::string::npos ||
                       step.find("SCAN projects") != std::string::npos;
      const bool scan = step.find("SCAN ") != std::string::npos && !few;
      EXPECT_TRUE(!scan || step.find("VIRTUAL TABLE") != std::string::npos ||
                  step.find("CONSTANT ROW") != std::string::npos)
          << step << "\n  in " << sql;
    }
  }
  EXPECT_GT(checked, 10u);
}

TEST_F(SearchTest, ATimelineShowsWhatHappenedAroundARecord) {
  std::vector<std::string> made;
  for (int i = 0; i < 6; ++i) made.push_back(observe("step " + std::to_string(i)));
  const Json line = must(m.run("timeline", Json::object({{"id", made[3]}, {"before", 2}, {"after", 1}})));
  std::string shown;
  for (const Json& record : line["records"].items()) shown += std::string(record["id"].as_string()) + " ";
  EXPECT_EQ(shown, made[1] + " " + made[2] + " " + made[3] + " " + made[4] + " ");
  EXPECT_EQ(line["anchor"].as_string(), made[3]);
  const Json first = must(m.run("timeline", Json::object({{"id", "P1"}, {"before", 9}, {"after", 1}})));
  ASSERT_EQ(first["records"].items().size(), 2u);
  EXPECT_EQ(first["records"].items()[1]["id"].as_string(), "S1") << "of one moment the prompt stands first";
  const Json found = must(m.run("timeline", Json::object({{"query", "step 4"}, {"cwd", chat.cwd}})));
  EXPECT_EQ(found["anchor"].as_string(), made[4]);
  EXPECT_EQ(m.run("timeline", Json::object({{"id", "O99"}})).error().code, Code::not_found);
  EXPECT_EQ(m.run("timeline", Json::object({{"query", "zebra"}, {"all", true}})).error().code,
            Code::not_found);
  EXPECT_EQ(m.run("timeline", Json::object()).error().code, Code::invalid);
}

TEST_F(SearchTest, ATimelineHasAnOrderAmongRecordsOfOneMoment) {
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(observe("same " + std::to_string(i)));
    must(m.db().exec("UPDATE observations SET created_at_epoch = 1790000000000"));
  }
  for (int at = 0; at < 5; ++at) {
    const Json line = must(
        m.run("timeline",
              Json::object({{"id", made[static_cast<std::size_t>(at)]}, {"before", 500}, {"after", 500}})));
    std::string shown;
    for (const Json& record : line["records"].items())
      if (record["kind"].as_string() == "observation") shown += std::string(record["id"].as_string());
    EXPECT_EQ(shown, "O1O2O3O4O5") << at;
  }
}

}  // namespace
}  // namespace cairn::test
