// Links between projects: reads show both, each keeps its rows.
#include <gtest/gtest.h>

#include "store/documents.h"
#include "store/open_items.h"
#include "store/project_links.h"
#include "store/project_move.h"
#include "store/projects.h"
#include "store/sessions.h"
#include "support/engine_fixture.h"

namespace cairn::store {
namespace {

using test::must;
using Names = std::vector<std::string>;

class LinkedProjects : public testing::Test {
 protected:
  void SetUp() override {
    must(m.open());
    for (const char* name : {"one", "two", "three"}) work(name, std::string("work in ") + name);
  }
  void work(const std::string& name, const std::string& request) {
    test::Chat chat;
    chat.session = name + "-" + std::to_string(++sessions);
    chat.cwd = "/home/dev/code/" + name;
    m.tell(chat.start());
    m.tell(chat.prompt(request));
    m.tell(chat.stop("Finished: " + request));
    m.tell(chat.end());
  }
  Project project(const std::string& name) { return must(project_by_name(m.db(), name)).value(); }
  bool link(const std::string& a, const std::string& b, MadeBy by = MadeBy::user) {
    return must(link_projects(m.db(), project(a), project(b), by, "because", m.clock.now()));
  }
  bool unlink(const std::string& a, const std::string& b) {
    return must(unlink_projects(m.db(), project(a), project(b), m.clock.now()));
  }
  Status rename(const std::string& name, const std::string& to) {
    return in_transaction(m.db(), [&] { return rename_project(m.db(), project(name), to, m.clock.now()); });
  }
  // How many rows of all tables have that project.
  std::int64_t rows_of(const std::string& name) {
    std::int64_t count = 0;
    for (const char* table : {"sdk_sessions", "user_prompts", "session_summaries", "observations", "texts",
                              "open_items", "injections", "tallies"})
      count += m.number("SELECT count(*) FROM " + std::string(table) + " WHERE project = '" + name + "'");
    return count;
  }
  Names scope(const std::string& name) { return must(scope_of(m.db(), name)); }
  Names requests(const std::string& name, std::size_t limit = 10) {
    Names found;
    for (const Session& s : must(latest_sessions(m.db(), name, limit))) found.push_back(s.user_prompt);
    return found;
  }

  test::Machine m;
  int sessions = 0;
};

TEST_F(LinkedProjects, AreReadAsOneAndKeepTheirRows) {
  EXPECT_EQ(scope("one"), Names{"one"});
  EXPECT_TRUE(link("one", "two"));
  EXPECT_FALSE(link("two", "one"));
  EXPECT_EQ(scope("one"), (Names{"one", "two"}));
  EXPECT_EQ(scope("two"), (Names{"two", "one"}));
  EXPECT_EQ(requests("one"), (Names{"work in two", "work in one"}));
  work("one", "newer");
  EXPECT_EQ(requests("two"), (Names{"newer", "work in two", "work in one"}));
  EXPECT_EQ(m.rows("SELECT project, count(*) FROM session_summaries GROUP BY project ORDER BY project"),
            (Names{"one|2", "three|1", "two|1"}));
  EXPECT_TRUE(unlink("two", "one"));
  EXPECT_EQ(requests("two"), (Names{"work in two"}));
  EXPECT_EQ(scope("one"), Names{"one"});
}

TEST_F(LinkedProjects, FormGroups) {
  link("one", "two");
  link("two", "three");
  EXPECT_EQ(scope("one"), (Names{"one", "three", "two"}));
  EXPECT_EQ(requests("three").size(), 3u);
  unlink("one", "two");
  EXPECT_EQ(scope("one"), Names{"one"});
  EXPECT_EQ(scope("three"), (Names{"three", "two"}));
}

TEST_F(LinkedProjects, OfWhichTheNewestComeFirstUpToTheLimit) {
  link("one", "two");
  for (int i = 0; i < 4; ++i) work(i % 2 ? "one" : "two", "turn " + std::to_string(i));
  EXPECT_EQ(requests("one", 3), (Names{"turn 3", "turn 2", "turn 1"}));
}

TEST_F(LinkedProjects, ThatTheUserUnlinkedAreNotLinkedAgainAutomatically) {
  EXPECT_TRUE(must(suggest_link(m.db(), project("one"), project("two"), "same first commit", m.clock.now())));
  EXPECT_FALSE(must(suggest_link(m.db(), project("two"), project("one"), "again", m.clock.now())));
  EXPECT_TRUE(unlink("one", "two")) << "a suggestion is turned down in the same way";
  EXPECT_FALSE(must(suggest_link(m.db(), project("one"), project("two"), "again", m.clock.now())));
  EXPECT_FALSE(link("one", "two", MadeBy::cairn));
  EXPECT_TRUE(link("one", "two", MadeBy::user));
}

TEST_F(LinkedProjects, AreReadByTheirIndexes) {
  link("one", "two");
  const auto plan = [&](const std::string& sql) {
    std::string all;
    for (const std::string& row : m.rows("EXPLAIN QUERY PLAN " + sql)) all += row + "\n";
    return all;
  };
  for (const char* sql :
       {"SELECT count(*) FROM user_prompts WHERE project IN (SELECT member FROM project_scope WHERE project "
        "= "
        "'one')",
        "SELECT min(started_at_epoch) FROM sdk_sessions WHERE project IN (SELECT member FROM project_scope "
        "WHERE project = 'one')"}) {
    EXPECT_EQ(plan(sql).find("SCAN user_prompts"), std::string::npos) << plan(sql);
    EXPECT_EQ(plan(sql).find("SCAN sdk_sessions"), std::string::npos) << plan(sql);
    EXPECT_EQ(plan(sql).find("SCAN p"), std::string::npos) << plan(sql);
  }
}

TEST_F(LinkedProjects, CanBeRenamedAndAreFoundByTheirOldName) {
  must(rename("one", "uno"));
  EXPECT_EQ(project("one").name, "uno");
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT DISTINCT project FROM user_prompts ORDER BY 1"), (Names{"three", "two", "uno"}));
  const Json found = must(m.run("search", Json::object({{"query", "work"}, {"project", "uno"}})));
  EXPECT_EQ(found["results"].items().size(), 1u) << found.dump();
  EXPECT_EQ(rename("uno", "two").error().code, Code::busy);
  for (const char* name : {"", "a\nb", "a\x1b[1m"})
    EXPECT_EQ(rename("uno", name).error().code, Code::invalid) << name;
}

// Each step is short, and between two of them the daemon may die, events may come, and a session may start.
TEST_F(LinkedProjects, AreRenamedInSteps) {
  link("one", "two");
  for (int i = 0; i < 30; ++i) work("one", "piece " + std::to_string(i));
  must(m.run("open", Json::object({{"text", "water the plants"}, {"project", "one"}})));
  const std::int64_t all = rows_of("one");
  ASSERT_GT(all, 120);
  must(rename("one", "uno"));
  EXPECT_EQ(rows_of("one"), all) << "no row has moved yet";
  EXPECT_EQ(must(m.run("projects.show", Json::object({{"project", "uno"}})))["linked"].dump(), R"(["two"])");
  EXPECT_EQ(rename("uno", "eins").error().code, Code::busy);
  EXPECT_EQ(rename("two", "one").error().code, Code::busy);
  ProjectMover first(m.db());
  std::int64_t left = rows_of("one");
  for (int steps = 0; must(is_moving(m.db())); ++steps) {
    ASSERT_LT(steps, 1000);
    EXPECT_EQ(requests("uno", 100).size(), 32u) << "with those of the linked project";
    EXPECT_EQ(requests("two", 100).size(), 32u);
    EXPECT_EQ(requests("one", 100).size(), 32u) << "a session whose row has not moved sees the same";
    EXPECT_EQ(must(m.run("projects.show", Json::object({{"project", "uno"}})))["sessions"].as_int(), 31);
    EXPECT_EQ(m.run("forget", Json::object({{"project", "uno"}})).error().code, Code::busy);
    EXPECT_EQ(project("one").name, "uno");
    ProjectMover another(m.db());  // as after a restart
    EXPECT_TRUE(must(steps % 7 == 3 ? another.step() : first.step()));
    EXPECT_LE(left - rows_of("one"), 130);
    left = rows_of("one");
  }
  EXPECT_FALSE(must(first.step()));
  EXPECT_EQ(rows_of("one"), 0);
  EXPECT_EQ(rows_of("uno"), all);
  EXPECT_EQ(m.rows("SELECT name FROM projects ORDER BY name"), (Names{"three", "two", "uno"}));
  EXPECT_EQ(scope("uno"), (Names{"uno", "two"}));
  EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Names{});
  const Json found =
      must(m.run("search", Json::object({{"query", "piece"}, {"project", "one"}, {"limit", 50}})));
  EXPECT_GE(found["results"].items().size(), 30u) << "the old name finds all of it";
  must(rename("uno", "one"));
  must(m.drain());
  EXPECT_EQ(rows_of("one"), all);
}

// What a person decided holds for work that is stored under the other name meanwhile.
TEST_F(LinkedProjects, KeepDecisionsWhileTheirRowsMove) {
  must(m.run("open", Json::object({{"text", "water the plants"}, {"project", "one"}})));
  const std::string id = m.text("SELECT 'W' || max(id) FROM open_items");
  must(m.run("done", Json::object({{"ids", Json::array({id})}})));
  must(m.run("save", Json::object({{"text", "# Plants\n\nThey grow."}, {"project", "one"}})));
  const std::string key = m.text("SELECT key FROM open_items");
  must(rename("one", "uno"));
  for (const char* name : {"one", "uno"}) {
    EXPECT_TRUE(must(closed_by_person(m.db(), name, key))) << name;
    EXPECT_TRUE(must(newest_document(m.db(), name))) << name;
    EXPECT_FALSE(must(closed_by_person(m.db(), "two", key)));
  }
}

TEST_F(LinkedProjects, TakeRowsAlongThatAreStoredUnderTheOldNameWhileOthersMove) {
  must(rename("one", "uno"));
  ProjectMover mover(m.db());
  while (must(m.db().integer("SELECT count(*) FROM user_prompts WHERE project = 'one'")) != 0)
    must(mover.step());
  must(in_transaction(m.db(), [&] {
    return m.db().run(
        "INSERT INTO undo_log(project, what, detail, at_epoch, expires_at_epoch) VALUES('one', "
        "'edit', '{}', 0, 0)");
  }));
  while (must(mover.step())) {
  }
  EXPECT_EQ(m.rows("SELECT DISTINCT project FROM undo_log"), Names{"uno"});
}

TEST_F(LinkedProjects, AreNotRenamedWhileSomethingIsForgotten) {
  must(m.run("forget", Json::object({{"project", "three"}})));
  EXPECT_EQ(m.run("projects.rename", Json::object({{"name", "one"}, {"new_name", "uno"}})).error().code,
            Code::busy);
  EXPECT_EQ(m.run("projects.merge", Json::object({{"name", "one"}, {"other", "two"}})).error().code,
            Code::busy);
  must(m.drain());
  must(m.run("projects.rename", Json::object({{"name", "one"}, {"new_name", "uno"}})));
}

TEST_F(LinkedProjects, AreMergedInStepsWhileWorkGoesOn) {
  link("two", "three");
  for (int i = 0; i < 12; ++i) work("one", "piece " + std::to_string(i));
  must(m.run("projects.merge", Json::object({{"name", "one"}, {"other", "two"}})));
  EXPECT_EQ(requests("two", 100).size(), 15u);
  EXPECT_EQ(requests("three", 100).size(), 15u);
  work("one", "another piece");  // its directory belongs to the other project now
  must(m.drain());
  EXPECT_EQ(rows_of("one"), 0);
  EXPECT_EQ(project("one").name, "two");
  EXPECT_EQ(requests("two", 100).size(), 16u);
  EXPECT_EQ(m.rows("SELECT name FROM projects ORDER BY name"), (Names{"three", "two"}));
  EXPECT_EQ(m.rows("PRAGMA foreign_key_check"), Names{});
}

TEST_F(LinkedProjects, AreMergedWhileOneIsStillBeingRenamed) {
  must(m.run("projects.rename", Json::object({{"name", "one"}, {"new_name", "first"}})));
  must(m.run("projects.merge", Json::object({{"name", "first"}, {"other", "two"}})));
  EXPECT_EQ(requests("two", 100).size(), 2u);
  must(m.drain());
  EXPECT_EQ(requests("two", 100).size(), 2u);
  EXPECT_EQ(m.rows("SELECT name FROM projects ORDER BY name"), (Names{"three", "two"}));
}

TEST_F(LinkedProjects, AreApartWhenTheOneThatLinkedThemIsMergedAway) {
  work("four", "work in four");
  link("one", "two");
  link("two", "three");
  must(m.run("projects.merge", Json::object({{"name", "two"}, {"other", "four"}})));
  must(m.drain());
  EXPECT_EQ(scope("one"), Names{"one"});
  EXPECT_EQ(scope("three"), Names{"three"});
  EXPECT_EQ(requests("one"), Names{"work in one"});
}

TEST_F(LinkedProjects, ShareWhatIsOpenAndWhatWasNoted) {
  link("one", "two");
  for (const char* name : {"one", "two", "three"}) {
    must(m.run("open",
               Json::object({{"text", std::string("water the plants in ") + name}, {"project", name}})));
    must(m.run("remember",
               Json::object({{"text", std::string("the key hangs in ") + name}, {"project", name}})));
  }
  const std::string context =
      std::string(must(m.run("context", Json::object({{"project", "two"}})))["text"].as_string());
  for (const char* text : {"water the plants in one", "water the plants in two", "the key hangs in one"})
    EXPECT_NE(context.find(text), std::string::npos) << text << "\n" << context;
  for (const char* text : {"water the plants in three", "the key hangs in three"})
    EXPECT_EQ(context.find(text), std::string::npos) << text << "\n" << context;
}

TEST_F(LinkedProjects, ShowBothInSearchAndTimeline) {
  link("one", "two");
  const Json found =
      must(m.run("search", Json::object({{"query", "work"}, {"project", "one"}, {"kind", "prompt"}})));
  EXPECT_EQ(found["results"].items().size(), 2u) << found.dump();
  const Json line = must(m.run("timeline", Json::object({{"id", "P1"}, {"project", "one"}})));
  EXPECT_NE(line.dump().find("work in two"), std::string::npos) << line.dump();
  EXPECT_EQ(line.dump().find("work in three"), std::string::npos) << line.dump();
}

}  // namespace
}  // namespace cairn::store
