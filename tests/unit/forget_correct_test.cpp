// Corrections: the user's word holds, whatever is distilled, imported or said afterwards.
#include <gtest/gtest.h>

#include "store/audit.h"
#include "store/standing.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class Corrections : public testing::Test {
 protected:
  Corrections() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("teach the quokka lexer to read trigraphs"));
    m.tell(chat.tool_failure(
        "Bash", "t1", Json::object({{"command", "make quokka"}}),
        "Exit code 2\nfatal: the quokka lexer cannot read trigraphs in this configuration"));
    m.tell(chat.wrote("quokka.cpp", "t2"));
    m.tell(chat.stop("It turns out that the quokka port is 4711. The lexer reads trigraphs now."));
  }
  Json run(std::string_view name, Json args = Json::object()) { return must(m.run(name, std::move(args))); }
  Json here(std::initializer_list<Json::Member> members = {}) {
    Json args = Json::object({{"cwd", chat.cwd}});
    for (const auto& [key, value] : members) args.set(key, value);
    return args;
  }
  Json edit(const std::string& id, std::initializer_list<Json> set) {
    Json list = Json::array();
    for (const Json& one : set) list.push(one);
    return run("edit", Json::object({{"id", id}, {"set", list}}));
  }
  std::string remember(const std::string& text, const char* by = "person") {
    return std::string(run("remember", here({{"text", text}, {"by", by}}))["id"].as_string());
  }
  std::string shown(const std::string& id) {
    const auto record = m.run("show", Json::object({{"ids", Json::array({id})}}));
    return record ? (*record)["records"].items()[0].dump() : "";
  }
  bool finds(const std::string& words, const std::string& id) {
    const Json found = run("search", Json::object({{"all", true}, {"query", words}, {"limit", 100}}));
    for (const Json& hit : found["results"].items()) {
      if (hit["id"].as_string() == id) return true;
      for (const Json& also : hit["also"].items())
        if (also.as_string() == id) return true;
    }
    return false;
  }
  // The turn's last event comes once more, so that it is distilled again.
  void distil_again() {
    m.tell(chat.wrote("late.cpp", "t9"));
    m.tell(chat.stop("It turns out that the quokka port is 4711. The lexer reads trigraphs now."));
    must(m.open());
    must(m.drain());
  }

  Machine m;
  Chat chat;
};

TEST_F(Corrections, ReplacedItAnswersWithTheNewValueWhenTheTurnIsDistilledAgain) {
  const Json result = edit("S1", {"learned=The quokka port is 5822."});
  EXPECT_EQ(result["trust"].as_string(), "confirmed");
  EXPECT_EQ(result["actor"].as_string(), "person");
  distil_again();
  EXPECT_NE(shown("S1").find("5822"), std::string::npos) << shown("S1");
  EXPECT_TRUE(finds("5822", "S1"));
  const std::string id = remember("the quokka port is 4711");
  edit(id, {"title=the quokka port is 5822"});
  EXPECT_NE(shown(id).find("5822"), std::string::npos);
  EXPECT_EQ(shown(id).find("4711"), std::string::npos);
}

TEST_F(Corrections, RejectedItStaysHiddenWhenTheSameIsSaidAgain) {
  ASSERT_GT(m.number("SELECT count(*) FROM observations WHERE deleted_at IS NULL"), 0);
  const std::string id = "O" + m.text("SELECT min(id) FROM observations");
  run("reject", Json::object({{"id", id}, {"reason", "it was another configuration"}}));
  EXPECT_EQ(shown(id), "");
  const auto before = m.number("SELECT count(*) FROM observations WHERE deleted_at IS NULL");
  distil_again();
  EXPECT_EQ(shown(id), "");
  const std::string title = m.text("SELECT title FROM observations WHERE id = " + id.substr(1));
  EXPECT_EQ(
      m.number("SELECT count(*) FROM observations WHERE deleted_at IS NULL AND title = '" + title + "'"), 0);
  EXPECT_LE(m.number("SELECT count(*) FROM observations WHERE deleted_at IS NULL"), before + 1);
}

TEST_F(Corrections, ARetractedRecordStaysHiddenWhenAnAgentSaysItAgain) {
  const std::string id = remember("deploys go through the wombat server");
  run("retract", Json::object({{"id", id}}));
  EXPECT_FALSE(finds("wombat", id));
  const std::string again = remember("Deploys go through  the WOMBAT server.", "agent");
  EXPECT_FALSE(finds("wombat", again)) << "an agent brought it back";
  EXPECT_EQ(m.context_of(m.ask(chat.start())).find("wombat"), std::string::npos);
}

TEST_F(Corrections, PartlySupersededKeepsWhatWasNotChanged) {
  edit("S1", {"next_steps=test the numbat"});
  EXPECT_NE(shown("S1").find("trigraphs"), std::string::npos);
  EXPECT_NE(shown("S1").find("numbat"), std::string::npos);
}

TEST_F(Corrections, ValidUntilADateItIsGoneAfterwards) {
  const std::string id = remember("the freeze of the bilby branch is on");
  edit(id, {"valid_until=" + iso8601(m.clock.now() + std::chrono::hours(24))});
  EXPECT_TRUE(finds("bilby", id));
  m.clock.advance(std::chrono::hours(25));
  must(m.engine->tick());
  EXPECT_FALSE(finds("bilby", id));
  EXPECT_EQ(m.context_of(m.ask(chat.start())).find("bilby"), std::string::npos);
}

// Each shape of a correction answers with the corrected value after everything was made again.
TEST_F(Corrections, EveryShapeHoldsAfterANewIndexARestartANewDistillationAndAnOldExport) {
  const std::string replaced = remember("the bilby port is 4711");
  const std::string negated = remember("the dunnart cache is on in production");
  const std::string retracted = remember("the potoroo job runs at night");
  const std::string partly = remember("the numbat service listens on 4711 and logs to stdout");
  const std::string until = remember("the wombat freeze is on");
  const std::string exported(run("export", Json::object({{"all", true}}))["text"].as_string());
  m.clock.advance(std::chrono::minutes(1));
  edit(replaced, {"title=the bilby port is 5822"});
  run("reject", Json::object({{"id", negated}, {"reason", "it is off"}}));
  const std::string denial = remember("the dunnart cache is not on in production");
  run("retract", Json::object({{"id", retracted}}));
  edit(partly, {"title=the numbat service listens on 5822 and logs to stdout"});
  edit("S1", {"learned=The quokka port is 5822."});
  edit(until, {"valid_until=" + iso8601(m.clock.now() + std::chrono::hours(24))});
  const auto expect_corrected = [&](const char* after, bool frozen) {
    SCOPED_TRACE(after);
    EXPECT_TRUE(finds("bilby 5822", replaced));
    EXPECT_EQ(shown(replaced).find("4711"), std::string::npos);
    EXPECT_FALSE(finds("dunnart", negated));
    EXPECT_TRUE(finds("dunnart", denial));
    EXPECT_FALSE(finds("potoroo", retracted));
    EXPECT_TRUE(finds("numbat 5822 stdout", partly));
    EXPECT_EQ(shown(partly).find("4711"), std::string::npos);
    EXPECT_NE(shown("S1").find("5822"), std::string::npos);
    EXPECT_EQ(finds("wombat freeze", until), frozen);
    const std::string context(run("context", here())["text"].as_string());
    EXPECT_NE(context.find("bilby port is 5822"), std::string::npos) << context;
    EXPECT_EQ(context.find("bilby port is 4711"), std::string::npos);
    EXPECT_EQ(context.find("potoroo"), std::string::npos);
    EXPECT_EQ(context.find("cache is on"), std::string::npos);
  };
  expect_corrected("at once", true);
  run("reindex");
  must(m.drain());
  expect_corrected("a new index", true);
  must(m.open());
  expect_corrected("a restart", true);
  distil_again();
  run("redistil", Json::object({{"all", true}, {"provider", "builtin"}}));
  must(m.drain());
  expect_corrected("a new distillation", true);
  m.put_file("/home/dev/old.json", exported);
  run("import.cairn", Json::object({{"file", "/home/dev/old.json"}}));
  must(m.drain());
  expect_corrected("an old export", true);
  m.clock.advance(std::chrono::hours(25));
  must(m.engine->tick());
  run("reindex");
  must(m.drain());
  expect_corrected("a day later", false);
}

TEST_F(Corrections, EachCanBeUndone) {
  const std::string id = remember("the potoroo note");
  const std::string before = shown(id);
  run("reject", Json::object({{"id", id}}));
  EXPECT_EQ(shown(id), "");
  run("undo", here());
  EXPECT_EQ(shown(id), before);
  edit(id, {"title=another potoroo"});
  run("undo", here());
  EXPECT_EQ(shown(id), before);
  run("retract", Json::object({{"id", id}, {"reason", "no"}}));
  run("undo", here());
  EXPECT_EQ(shown(id), before);
  EXPECT_FALSE(must(store::check_audit(m.db(), m.engine->key())).broken);
}

TEST_F(Corrections, AnObservationThatIsPinnedIsGivenToEverySession) {
  const std::string id = remember("an agent's note about the dunnart", "agent");
  EXPECT_EQ(m.context_of(m.ask(chat.start("clear"))).find("dunnart"), std::string::npos);
  run("pin", Json::object({{"id", id}}));
  Chat next = chat;
  next.session = "5c1d7d28-0000-4000-8000-00000000f00d";
  EXPECT_NE(m.context_of(m.ask(next.start())).find("dunnart"), std::string::npos);
}

TEST_F(Corrections, UndoingAPinLeavesANoteAsItWas) {
  const std::string id(
      run("remember", here({{"text", "the bilby builds use tabs"}, {"for", "all"}}))["id"].as_string());
  const auto notes = [this] { return m.rows("SELECT observation_id, for_all, done_at_epoch FROM notes"); };
  const Json pin = Json::object({{"id", id}}), unpin = Json::object({{"id", id}, {"off", true}});
  auto before = notes();
  ASSERT_EQ(before.size(), 1u);
  for (const Json& args : {pin, unpin}) {
    run("pin", args);
    run("undo", here());
    EXPECT_EQ(notes(), before) << args.dump();
  }
  run("done", Json::object({{"ids", Json::array({id})}}));
  before = notes();
  run("pin", pin);
  EXPECT_NE(notes(), before);
  run("undo", here());
  EXPECT_EQ(notes(), before) << "a note that was done is given again";
}

TEST_F(Corrections, UndoingThePinOfAnObservationMakesItNoNoteAgain) {
  const std::string id = remember("an agent's note about the dunnart", "agent");
  run("pin", Json::object({{"id", id}}));
  EXPECT_EQ(m.number("SELECT count(*) FROM notes"), 1);
  run("undo", here());
  EXPECT_EQ(m.number("SELECT count(*) FROM notes"), 0);
}

TEST_F(Corrections, AnEditReportsWhatIsStored) {
  const std::string id = remember("an agent's note about the dunnart", "agent");
  const Json until = edit(id, {"valid_until=" + iso8601(m.clock.now() + std::chrono::hours(24))});
  EXPECT_EQ(until["actor"].as_string(), "agent");
  EXPECT_FALSE(until["hidden"].as_bool());
  EXPECT_EQ(edit(id, {"title=the dunnart"})["actor"].as_string(), "person");
  const Json over = edit(id, {"valid_until=" + iso8601(m.clock.now() - std::chrono::hours(1))});
  EXPECT_TRUE(over["hidden"].as_bool()) << "it is over";
}

TEST_F(Corrections, WhatWasSaidCannotBeEditedAndAWrongFieldIsNamed) {
  EXPECT_EQ(m.run("edit", Json::object({{"id", "P1"}, {"set", Json::array({"text=x"})}})).error().code,
            Code::invalid);
  EXPECT_EQ(m.run("edit", Json::object({{"id", "S1"}, {"set", Json::array({"titel=x"})}})).error().code,
            Code::invalid);
  EXPECT_EQ(m.run("edit", Json::object({{"id", "S99"}, {"set", Json::array({"notes=x"})}})).error().code,
            Code::not_found);
}

class Projects : public Corrections {};

TEST_F(Projects, MergingMovesEveryRowAndTheOldNameLeadsToTheOther) {
  Chat other;
  other.session = "5c1d7d28-0000-4000-8000-0000000000aa";
  other.cwd = "/home/dev/code/other";
  m.tell(other.start());
  m.tell(other.prompt("the numbat compiler"));
  m.tell(other.stop("Done."));
  const std::string from = m.text("SELECT project FROM sdk_sessions ORDER BY id DESC LIMIT 1");
  const std::string into = m.text("SELECT project FROM sdk_sessions ORDER BY id LIMIT 1");
  ASSERT_NE(from, into);
  run("projects.merge", Json::object({{"name", from}, {"other", into}}));
  must(m.drain());
  EXPECT_EQ(m.number("SELECT count(*) FROM projects WHERE name = '" + from + "'"), 0);
  EXPECT_TRUE(finds("numbat", "P2"));
  EXPECT_EQ(run("projects.show", Json::object({{"project", from}}))["name"].as_string(), into);
  m.tell(other.prompt("again"));
  EXPECT_EQ(m.number("SELECT count(DISTINCT project) FROM user_prompts"), 1);
}

TEST_F(Projects, SplittingMovesTheSessionsOfADirectory) {
  Chat below;
  below.session = "5c1d7d28-0000-4000-8000-0000000000ab";
  below.cwd = chat.cwd + "/below";
  m.tell(below.start());
  m.tell(below.prompt("the numbat compiler"));
  m.tell(below.stop("Done."));
  const std::string name = m.text("SELECT project FROM sdk_sessions ORDER BY id LIMIT 1");
  const std::string other = m.text("SELECT project FROM sdk_sessions ORDER BY id DESC LIMIT 1");
  ASSERT_NE(other, name);
  run("projects.merge", Json::object({{"name", other}, {"other", name}}));
  const auto early = m.run("projects.split", Json::object({{"name", name}, {"path", below.cwd}}));
  EXPECT_EQ(early.error().code, Code::busy);
  must(m.drain());
  const Json result = run("projects.split", Json::object({{"name", name}, {"path", below.cwd}}));
  EXPECT_EQ(result["sessions"].as_int(), 1);
  EXPECT_EQ(m.text("SELECT project FROM user_prompts ORDER BY id DESC LIMIT 1"), result["name"].as_string());
  EXPECT_EQ(m.text("SELECT project FROM user_prompts ORDER BY id LIMIT 1"), name);
}

TEST_F(Projects, SplittingWaitsUntilAForgetIsDone) {
  const std::string name = m.text("SELECT project FROM sdk_sessions ORDER BY id LIMIT 1");
  const Json split = Json::object({{"name", name}, {"path", chat.cwd}});
  run("forget", here({{"ids", Json::array({"P1"})}}));
  EXPECT_EQ(m.run("projects.split", split).error().message,
            "split: something is being forgotten: try again in a minute");
  must(m.drain());
  run("projects.split", split);
}

}  // namespace
}  // namespace cairn::test
