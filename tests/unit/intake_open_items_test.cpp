#include <gtest/gtest.h>

#include "context/composer.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class OpenLife : public testing::Test {
 protected:
  OpenLife() { must(m.open()); }

  Chat chat(int n) {
    Chat c;
    c.session.back() = static_cast<char>('0' + n);
    return c;
  }
  // A turn that edits a file and ends with that answer.
  void work(Chat& c, std::string_view prompt, std::string_view answer, std::string_view file = "other.cpp") {
    m.tell(c.prompt(prompt));
    m.tell(c.wrote("/home/dev/code/proj/" + std::string(file), "use-" + std::to_string(++uses)));
    m.tell(c.stop(answer));
  }
  void create(Chat& c, const std::string& id, const std::string& subject) {
    m.tell(c.tool("TaskCreate", "use-" + std::to_string(++uses), Json::object({{"subject", subject}}),
                  Json::object({{"task", Json::object({{"id", id}, {"subject", subject}})}})));
  }
  void update(Chat& c, const std::string& id, const std::string& status) {
    m.tell(c.tool("TaskUpdate", "use-" + std::to_string(++uses),
                  Json::object({{"taskId", id}, {"status", status}}), Json::object({{"success", true}})));
  }
  std::vector<std::string> open() {
    return m.rows("SELECT source, state, text FROM open_items WHERE closed_at_epoch IS NULL ORDER BY id");
  }
  std::vector<std::string> closed() {
    return m.rows("SELECT text, closed_by FROM open_items WHERE closed_at_epoch IS NOT NULL ORDER BY id");
  }
  std::string context() {
    return must(context::compose(m.db(), {.project = "proj", .key = m.engine->key()})).text;
  }
  using Rows = std::vector<std::string>;

  Machine m;
  int uses = 0;
};

TEST_F(OpenLife, AnItemStaysThroughSessionsAboutSomethingElseAndGoesWhenDone) {
  Chat one = chat(1), two = chat(2), three = chat(3), four = chat(4);
  work(one, "fix the lexer", "Fixed.\n\nNext: add a retry to the uploader.");
  m.tell(one.end());
  EXPECT_EQ(open(), Rows{"next_step||add a retry to the uploader."});
  work(two, "rename a file", "Renamed it.");
  m.tell(two.end());
  work(three, "what is it?", "It is a lexer. The uploader has a limit.");
  m.tell(three.end());
  EXPECT_NE(context().find("# Open\n- W1 add a retry to the uploader."), std::string::npos) << context();
  work(four, "go", "Added a retry to the uploader.", "uploader.cpp");
  EXPECT_EQ(open(), Rows{});
  EXPECT_EQ(closed(), Rows{"add a retry to the uploader.|done"});
  EXPECT_EQ(context().find("# Open"), std::string::npos) << context();
}

TEST_F(OpenLife, TasksHaveTheirStateOverTurnsAndSessions) {
  Chat one = chat(1), two = chat(2);
  m.tell(one.prompt("three things"));
  create(one, "1", "Write the parser");
  create(one, "2", "Write the printer");
  create(one, "3", "Update the changelog");
  update(one, "1", "completed");
  update(one, "2", "in_progress");
  m.tell(one.stop("One is done."));
  EXPECT_EQ(open(), (Rows{"task|in_progress|Write the printer", "task|pending|Update the changelog"}));
  m.tell(one.prompt("and on"));
  update(one, "2", "completed");
  m.tell(one.stop("Two are done."));
  m.tell(one.end());
  EXPECT_EQ(open(), Rows{"task|pending|Update the changelog"});
  m.tell(two.prompt("the rest"));
  create(two, "1", "Update the changelog");
  update(two, "1", "completed");
  m.tell(two.stop("All done."));
  EXPECT_EQ(open(), Rows{}) << "the same task, in another session";
}

TEST_F(OpenLife, AListThatIsWrittenAsAWholeIsFollowedToo) {
  Chat one = chat(1);
  const auto todo = [](std::string_view text, std::string_view status) {
    return Json::object({{"content", text}, {"status", status}});
  };
  const auto write = [&](Json list) {
    m.tell(one.tool("TodoWrite", "use-" + std::to_string(++uses), Json::object({{"todos", std::move(list)}}),
                    {}));
  };
  m.tell(one.prompt("two things"));
  write(Json::array({todo("Write the parser", "in_progress"), todo("Write the printer", "pending")}));
  m.tell(one.stop("Begun."));
  EXPECT_EQ(open(), (Rows{"task|in_progress|Write the parser", "task|pending|Write the printer"}));
  m.tell(one.prompt("go on"));
  write(Json::array({todo("Write the parser", "completed")}));
  m.tell(one.stop("Fine."));
  EXPECT_EQ(closed(), (Rows{"Write the parser|task completed", "Write the printer|left out of the list"}));
}

TEST_F(OpenLife, AQuestionIsAnsweredByTheNextPromptOfItsSession) {
  Chat one = chat(1), two = chat(2);
  work(one, "fix it", "Fixed. Want me to push it?");
  work(two, "something else", "Changed the colour.");
  EXPECT_EQ(open(), Rows{"question||Want me to push it?"}) << "another session is no answer";
  m.tell(one.prompt("no, leave it"));
  m.tell(one.stop("Very well."));
  EXPECT_EQ(closed(), Rows{"Want me to push it?|answered"});
}

TEST_F(OpenLife, AnOfferIsAcceptedByAYesOrANumberAndNotByAPromptThatWasNeverSeen) {
  const std::string offer = "Fixed.\n\nNext: add a retry to the uploader.";
  for (const char* prompt : {"yes", "1.", ""}) {
    Chat c = chat(++uses);
    work(c, "fix the lexer", offer);
    const HookCall next = c.prompt(prompt);
    if (*prompt != '\0') m.tell(next);
    m.tell(c.wrote("/home/dev/code/proj/other.cpp", "more-" + std::to_string(++uses)));
    m.tell(c.stop("There you are."));
    EXPECT_EQ(open().empty(), *prompt != '\0') << prompt;
  }
  EXPECT_EQ(closed(), (Rows{"add a retry to the uploader.|you agreed, and it was done",
                            "add a retry to the uploader.|you agreed, and it was done"}));
}

TEST_F(OpenLife, AnInterruptionGoesWithTheNextFinishedTurn) {
  Chat one = chat(1), two = chat(2);
  m.tell(one.prompt("build it"));
  m.tell(one.before_tool("Bash", "b1", Json::object({{"command", "make all"}})));
  m.tell(one.end());
  EXPECT_EQ(open(), Rows{"interruption||Interrupted at: make all; the request was: build it"});
  m.tell(two.prompt("where were we?"));
  m.tell(two.stop("At the build."));
  EXPECT_EQ(open(), Rows{});
}

TEST_F(OpenLife, ARefusedCallLeavesNoItem) {
  Chat one = chat(1);
  m.tell(one.prompt("clean up"));
  m.tell(one.before_tool("Bash", "b1", Json::object({{"command", "rm -rf build"}})));
  m.tell(one.stop("I was not allowed to remove it, so I left it."));
  m.tell(one.end());
  EXPECT_EQ(open(), Rows{});
}

TEST_F(OpenLife, APlanThatNobodyAcceptedIsAcceptedByASessionThatBeginsWithItsText) {
  const std::string plan = "# Plan: Retry uploads\n\n1. Add a retry to `src/upload.cpp`\n2. Test it by hand";
  Chat one = chat(1), two = chat(2);
  m.tell(one.prompt("plan retries"));
  m.tell(one.before_tool("ExitPlanMode", "p1", Json::object({{"plan", plan}})));
  m.tell(one.end("clear"));
  EXPECT_EQ(open(),
            (Rows{"plan|proposed|Retry uploads",
                  "interruption|plan|Interrupted at: the plan \"Retry uploads\"; the request was: plan "
                  "retries"}));
  EXPECT_NE(context().find("The plan \"Retry uploads\" was not accepted: nothing of it is implemented."),
            std::string::npos)
      << context();
  EXPECT_EQ(m.text("SELECT detail FROM open_items WHERE source = 'plan'"), plan) << "stored whole";
  work(two, "Implement the following plan:\n\n" + plan, "Retries work.", "src/upload.cpp");
  EXPECT_EQ(closed(), (Rows{"Retry uploads|implemented",
                            "Interrupted at: the plan \"Retry uploads\"; the request was: plan retries|the "
                            "work went on"}));
}

TEST_F(OpenLife, NothingIsOpenOfARejectedPlan) {
  Chat one = chat(1);
  m.tell(one.prompt("plan retries"));
  m.tell(one.tool_failure("ExitPlanMode", "p1",
                          Json::object({{"plan", "# Retry uploads\n\n1. Add a retry to `src/upload.cpp`"}}),
                          "The user doesn't want to proceed with this tool use."));
  m.tell(one.stop("Then I leave it."));
  m.tell(one.end());
  EXPECT_EQ(context().find("# Open"), std::string::npos) << context();
  EXPECT_NE(context().find("The plan \"Retry uploads\" was rejected"), std::string::npos) << context();
  EXPECT_TRUE(must(m.run("open", Json::object({{"project", "proj"}})))["items"].items().empty());
  EXPECT_EQ(m.text("SELECT count(*) FROM observations"), "0") << "a refusal is no lesson";
}

TEST_F(OpenLife, AnAcceptedPlanIsFollowedByItsSteps) {
  const std::string plan =
      "# Retry uploads\n\n1. Add a retry to `src/upload.cpp`\n2. Use it in `src/main.cpp`\n"
      "3. Test it in `t/retry_test.cpp`";
  Chat one = chat(1);
  m.tell(one.prompt("plan retries"));
  m.tell(one.tool("ExitPlanMode", "p1", Json::object({{"plan", plan}}), Json::object({{"plan", plan}})));
  m.tell(one.wrote("/home/dev/code/proj/README.md", "w1"));
  m.tell(one.stop("Wrote the introduction first."));
  EXPECT_EQ(open(), Rows{"plan|accepted|Retry uploads"}) << "no step of it was done";
  EXPECT_NE(context().find("plan \"Retry uploads\", accepted and not finished; not begun: 1. Add a retry to "
                           "`src/upload.cpp`; 2. Use it in `src/main.cpp`; 3. Test it in `t/retry_test.cpp`"),
            std::string::npos)
      << context();
  work(one, "go on", "The first is done.", "src/upload.cpp");
  EXPECT_NE(context().find("not begun: 2. Use it"), std::string::npos) << context();
  work(one, "go on", "The second too.", "src/main.cpp");
  work(one, "go on", "Done.", "t/retry_test.cpp");
  EXPECT_EQ(closed(), Rows{"Retry uploads|implemented"}) << "over three turns";
}

TEST_F(OpenLife, DistillingATurnAgainChangesNothing) {
  Chat one = chat(1), two = chat(2);
  work(one, "fix the lexer", "Fixed.\n\nNext: add a retry to the uploader.");
  m.tell(one.end());
  work(two, "go", "Added a retry to the uploader. Shall I deploy it?", "uploader.cpp");
  m.tell(two.end());
  const auto rows = [&] { return m.rows("SELECT * FROM open_items ORDER BY id"); };
  const auto before = rows();
  ASSERT_EQ(before.size(), 2u);
  for (const char* id : {"1", "2", "1"}) must(m.run("sessions.summarize", Json::object({{"id", id}})));
  EXPECT_EQ(rows(), before);
}

TEST_F(OpenLife, AnItemWithoutWorkFor30DaysIsOnlyShownAtTheEnd) {
  Chat one = chat(1), two = chat(2);
  work(one, "fix the lexer", "Fixed.\n\nNext: add a retry to the uploader.");
  m.tell(one.end());
  m.clock.advance(std::chrono::hours(24 * 29));
  work(two, "rename it", "Renamed it.");
  EXPECT_NE(context().find("# Open\n- W1"), std::string::npos) << context();
  m.clock.advance(std::chrono::hours(24 * 2));
  work(two, "again", "Renamed it again.");
  EXPECT_EQ(context().find("# Open"), std::string::npos) << context();
  EXPECT_NE(context().find("was left open: add a retry to the uploader."), std::string::npos) << context();
}

TEST_F(OpenLife, ARunningSessionDoesNotHideOpenItems) {
  Chat one = chat(1), two = chat(2), three = chat(3);
  work(one, "fix the lexer", "Fixed.\n\nNext: add a retry to the uploader.");
  m.tell(one.end());
  m.tell(two.prompt("rename it"));
  m.tell(two.wrote("/home/dev/code/proj/b.cpp", "w9"));
  const std::string given = Machine::context_of(m.ask(three.start()));
  EXPECT_NE(given.find("add a retry to the uploader"), std::string::npos) << given;
}

TEST_F(OpenLife, ItemsThatAPersonAddsAndClosesStayThatWay) {
  Chat one = chat(1);
  work(one, "fix the lexer", "Fixed.\n\nNext: add a retry to the uploader.");
  const Json added = must(m.run("open", Json::object({{"text", "call the\nprovider"}, {"project", "proj"}})));
  EXPECT_EQ(added["id"].as_string(), "W2");
  EXPECT_EQ(added["text"].as_string(), "call the provider");
  const Json list = must(m.run("open", Json::object({{"project", "proj"}})));
  ASSERT_EQ(list["items"].items().size(), 2u);
  EXPECT_EQ(must(m.run("status"))["open_items"].as_int(), 2);
  const Json closed_now = must(m.run("done", Json::object({{"ids", Json::array({"w1"})}})));
  EXPECT_EQ(closed_now["done"].items().at(0)["id"].as_string(), "W1");
  must(m.run("sessions.summarize", Json::object({{"id", "1"}})));
  work(one, "again", "Fixed.\n\nNext: add a retry to the uploader.");
  EXPECT_EQ(open(), Rows{"person||call the provider"}) << "what a person closed stays closed";
  const Json shown = must(m.run("show", Json::object({{"ids", Json::array({"W1"})}})));
  EXPECT_EQ(shown["records"].items().at(0)["closed_by"].as_string(), "you");
  EXPECT_EQ(must(m.run("why", Json::object({{"id", "W1"}})))["events"].items().size(), 1u);
  const Json found =
      must(m.run("search", Json::object({{"query", "uploader"}, {"kind", "open"}, {"project", "proj"}})));
  ASSERT_EQ(found["results"].items().size(), 1u);
  EXPECT_EQ(found["results"].items().at(0)["id"].as_string(), "W1");
  EXPECT_FALSE(m.run("done", Json::object({{"ids", Json::array({"W77"})}})).ok());
  EXPECT_FALSE(m.run("open", Json::object({{"text", " "}, {"project", "proj"}})).ok());
}

TEST_F(OpenLife, NotesAreGivenFirstAndWholeUntilTheyAreDone) {
  Chat one = chat(1);
  work(one, "seed", "Did it.");
  const std::string note = "The staging database is shared.\nNever run migrations there on a Friday.";
  must(m.run("remember", Json::object({{"text", note}, {"project", "proj"}})));
  for (int i = 0; i < 100; ++i)
    work(one, "turn " + std::to_string(i), "Did thing " + std::to_string(i) + ".");
  const std::string text = context();
  const std::size_t at = text.find("# Notes\n- O");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_LT(at, text.find("# State"));
  EXPECT_NE(text.find("The staging database is shared.\n  Never run migrations there on a Friday."),
            std::string::npos)
      << text;
  const std::string id = m.text("SELECT 'O' || observation_id FROM notes");
  must(m.run("done", Json::object({{"ids", Json::array({id})}})));
  EXPECT_EQ(context().find("staging database"), std::string::npos) << context();
  EXPECT_FALSE(must(m.run("search", Json::object({{"query", "staging"}, {"project", "proj"}})))["results"]
                   .items()
                   .empty());
}

TEST_F(OpenLife, ANoteForAllIsGivenInEveryProject) {
  Chat one = chat(1), two = chat(2);
  two.cwd = "/home/dev/code/elsewhere";
  work(one, "seed", "Did it.");
  work(two, "seed", "Did it.");
  must(
      m.run("remember", Json::object({{"text", "Sign every commit."}, {"project", "proj"}, {"for", "all"}})));
  must(m.run("remember", Json::object({{"text", "Only here."}, {"project", "proj"}})));
  const std::string text =
      must(context::compose(m.db(), {.project = "elsewhere", .key = m.engine->key()})).text;
  EXPECT_NE(text.find("(for all projects): Sign every commit."), std::string::npos) << text;
  EXPECT_EQ(text.find("Only here."), std::string::npos) << text;
  EXPECT_FALSE(m.run("remember", Json::object({{"text", "x"}, {"project", "proj"}, {"for", "some"}})).ok());
}

TEST_F(OpenLife, NotesTakeFourTenthsOfTheBudgetAtMostThenTheirIds) {
  Chat one = chat(1);
  work(one, "seed", "Did it.");
  for (int i = 0; i < 10; ++i)
    must(m.run("remember", Json::object({{"text", "note " + std::to_string(i) + std::string(400, 'x')},
                                         {"project", "proj"}})));
  const std::string text = context();
  const std::size_t from = text.find("# Notes"), to = text.find("\n\n", from);
  EXPECT_LT(to - from, 4500u);
  for (int i = 0; i < 10; ++i)
    EXPECT_NE(text.find(" note " + std::to_string(i)), std::string::npos) << i << text;
}

TEST_F(OpenLife, AStandingOrderIsACandidateUntilItIsDropped) {
  Chat one = chat(1);
  work(one, "Fix it. Always run the linter first.", "Did it.");
  EXPECT_NE(context().find("- P1 said once, no note yet: \"Always run the linter first.\""),
            std::string::npos)
      << context();
  must(m.run("done", Json::object({{"ids", Json::array({"P1"})}})));
  EXPECT_EQ(context().find("said once"), std::string::npos);
}

}  // namespace
}  // namespace cairn::test
