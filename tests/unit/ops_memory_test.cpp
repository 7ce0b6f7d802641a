// The operations on what is remembered: where it came from, what is added by hand, sums.
#include <gtest/gtest.h>

#include "ops/operation.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class Memory : public testing::Test {
 protected:
  Memory() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("fix the lexer"));
    m.tell(chat.wrote("lexer.cpp", "t1"));
    m.tell(chat.ran("make check", "t2"));
    m.tell(chat.stop("Fixed."));
  }
  Json run(std::string_view name, Json args = Json::object()) { return must(m.run(name, std::move(args))); }
  Code failure(std::string_view name, Json args) { return m.run(name, std::move(args)).error().code; }
  Json here(std::initializer_list<Json::Member> members = {}) {
    Json args = Json::object({{"cwd", chat.cwd}});
    for (const auto& [key, value] : members) args.set(key, value);
    return args;
  }

  Machine m;
  Chat chat;
};

TEST_F(Memory, WhyLeadsFromASummaryToTheRawEventsOfItsTurn) {
  const Json why = run("why", Json::object({{"id", "S1"}}));
  EXPECT_EQ(why["kind"].as_string(), "summary");
  std::string names;
  for (const Json& event : why["events"].items()) names += std::string(event["event"].as_string()) + " ";
  EXPECT_EQ(names, "UserPromptSubmit PostToolUse PostToolUse Stop ");
  const Json& ran = why["events"].items()[2];
  EXPECT_EQ(ran["tool_name"].as_string(), "Bash");
  EXPECT_NE(ran["input"].as_string().find("make check"), std::string::npos);
  EXPECT_TRUE(is_event_id(ran["event_id"].as_string()));
  const Json prompt = run("why", Json::object({{"id", "P1"}}));
  ASSERT_EQ(prompt["events"].items().size(), 1u);
  EXPECT_EQ(prompt["events"].items()[0]["input"].as_string(), "fix the lexer");
  EXPECT_EQ(failure("why", Json::object({{"id", "S9"}})), Code::not_found);
  EXPECT_EQ(failure("why", Json::object({{"id", "nine"}})), Code::invalid);
  EXPECT_EQ(failure("why", Json::object()), Code::invalid);
}

TEST_F(Memory, WhyLeadsFromAnObservationToTheEventsItNames) {
  run("remember", here({{"text", "a note"}}));
  const std::int64_t id = m.number("SELECT max(id) FROM observations");
  const std::int64_t seq = m.number("SELECT max(seq) FROM events WHERE tool_name = 'Bash'");
  must(m.db().run("INSERT INTO observation_evidence(observation_id, event_seq) VALUES(?, ?)", id, seq));
  const Json why = run("why", Json::object({{"id", "O" + std::to_string(id)}}));
  ASSERT_EQ(why["events"].items().size(), 1u);
  EXPECT_EQ(why["events"].items()[0]["tool_use_id"].as_string(), "t2");
}

TEST_F(Memory, EveryRecordNamesWhereItsTextCameFrom) {
  const auto origin = [](const Json& of) {
    std::string text;
    for (const Json& name : of["origin"].items()) text += std::string(name.as_string()) + " ";
    return text;
  };
  m.tell(chat.prompt("look at the quokka"));
  m.tell(chat.tool("WebFetch", "t3", Json::object({{"url", "https://a.test/"}}), Json::object()));
  m.tell(chat.tool_failure(
      "Bash", "t4", Json::object({{"command", "make quokka"}}),
      "Exit code 2\nfatal: a quokka is not a target, and this line goes on for long enough"));
  m.tell(chat.stop("Seen. It turns out that the quokka is elsewhere."));
  const auto show = [&](const char* id) {
    return origin(run("show", Json::object({{"ids", Json::array({id})}}))["records"].items()[0]);
  };
  EXPECT_EQ(show("S1"), "");
  EXPECT_EQ(show("S2"), "output web ");
  EXPECT_EQ(show("P2"), "");
  const Json why = run("why", Json::object({{"id", "S2"}}));
  EXPECT_EQ(origin(why), "output web ");
  EXPECT_EQ(origin(why["events"].items()[0]), "");
  EXPECT_EQ(origin(why["events"].items()[1]), "web ");
  EXPECT_EQ(origin(why["events"].items()[2]), "output ");
  const Json line = run("timeline", Json::object({{"id", "S2"}}));
  for (const Json& record : line["records"].items())
    EXPECT_EQ(origin(record).empty(),
              record["prompt_number"].as_int() == 1 || record["kind"].as_string() == "prompt")
        << record.dump();
  bool excerpt = false;
  const Json found = run("search", here({{"query", "enough kind:summary"}}));
  for (const Json& hit : found["results"].items()) {
    EXPECT_EQ(origin(hit), "output web ");
    const std::string_view text = hit["excerpt"].as_string();
    excerpt |= text.find("[output: ") < text.find("enough");
  }
  EXPECT_TRUE(excerpt) << found.dump();
}

TEST_F(Memory, WhyCutsLongTextsUnlessAllIsAskedFor) {
  m.tell(chat.prompt("long"));
  m.tell(chat.tool("Bash", "t9", Json::object({{"command", std::string(9000, 'x')}}), Json::object()));
  m.tell(chat.stop());
  const auto size = [&](bool full) {
    const Json why = run("why", Json::object({{"id", "S2"}, {"full", full}}));
    return why["events"].items()[1]["input"].as_string().size();
  };
  EXPECT_LE(size(false), 2000u);
  EXPECT_GT(size(true), 9000u);
}

TEST_F(Memory, RememberedByHandItIsFoundShownAndGivenToTheNextSession) {
  const Json stored = run("remember", here({{"text", "Deploys need the VPN. Ask for the token first."},
                                            {"type", "Decision"},
                                            {"file", Json::array({"deploy.sh"})}}));
  const std::string id(stored["id"].as_string());
  EXPECT_EQ(stored["title"].as_string(), "Deploys need the VPN.");
  EXPECT_EQ(stored["project"].as_string(), "proj");
  EXPECT_EQ(run("search", here({{"query", "vpn"}}))["results"].items()[0]["id"].as_string(), id);
  EXPECT_EQ(run("search", here({{"query", "file:deploy.sh type:decision"}}))["results"].items().size(), 1u);
  const Json record = run("show", Json::object({{"ids", Json::array({id})}}))["records"].items()[0];
  EXPECT_EQ(record["type"].as_string(), "decision");
  EXPECT_EQ(record["narrative"].as_string(), "Deploys need the VPN. Ask for the token first.");
  EXPECT_NE(run("context", here())["text"].as_string().find("Deploys need the VPN"), std::string_view::npos);
  EXPECT_TRUE(run("why", Json::object({{"id", id}}))["events"].items().empty());
}

TEST_F(Memory, RememberedByHandBelongsToOneHiddenSessionOfTheProject) {
  run("remember", here({{"text", "one"}}));
  run("remember", here({{"text", "two"}}));
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions WHERE hidden = 1 AND status = 'completed'"), 1);
  EXPECT_EQ(run("sessions.list", here())["sessions"].items().size(), 1u);
  EXPECT_TRUE(m.text("SELECT memory_session_id FROM sdk_sessions WHERE hidden = 1").starts_with("cairn-"));
  must(m.drain());
  m.clock.advance(std::chrono::hours(48));
  must(m.engine->tick());
  EXPECT_EQ(
      m.number("SELECT count(*) FROM observations WHERE deleted_at IS NULL AND title IN ('one', 'two')"), 2);
}

TEST_F(Memory, RememberedByAnAgentItIsTheAgentsWithAnEventAsEvidence) {
  const Json stored = run("remember", here({{"text", "The marmot cache needs a rebuild."}, {"by", "agent"}}));
  EXPECT_EQ(stored["by"].as_string(), "agent");
  const Json id = stored["id"];
  const Json why = run("why", Json::object({{"id", id}}));
  ASSERT_EQ(why["events"].items().size(), 1u);
  EXPECT_EQ(why["events"].items()[0]["event"].as_string(), "remember");
  EXPECT_EQ(why["events"].items()[0]["input"].as_string(), "The marmot cache needs a rebuild.");
  const auto by = [&](const Json& of) {
    return run("show", Json::object({{"ids", Json::array({of})}}))["records"].items()[0]["by"].dump();
  };
  EXPECT_EQ(by(id), R"("agent")");
  EXPECT_EQ(by(run("remember", here({{"text", "Mine."}}))["id"]), R"("person")");
  EXPECT_EQ(run("search", here({{"query", "marmot"}}))["results"].items()[0]["id"], id);
  const Json ledger = run("status")["ledger"];
  EXPECT_EQ(ledger["gap"].as_int(-1), 0);
  EXPECT_EQ(ledger["delivered"], ledger["taken_in"]);
  EXPECT_EQ(run("sessions.list", here())["sessions"].items().size(), 1u);
}

TEST_F(Memory, RememberMakesANewDirectoryAProjectButNoUnknownName) {
  const Json stored = run("remember", Json::object({{"text", "hello"}, {"cwd", "/home/dev/code/fresh"}}));
  EXPECT_EQ(stored["project"].as_string(), "fresh");
  EXPECT_EQ(failure("remember", Json::object({{"text", "x"}, {"project", "nobody's"}})), Code::not_found);
  EXPECT_EQ(failure("remember", Json::object({{"text", "x"}})), Code::invalid);
}

TEST_F(Memory, RememberPassesTheGate) {
  EXPECT_EQ(failure("remember", here({{"text", "<private>all of it</private>"}})), Code::invalid);
  EXPECT_EQ(failure("remember", here({{"text", " \n "}})), Code::invalid);
  EXPECT_EQ(failure("remember", here({{"text", std::string(70'000, 'x')}})), Code::invalid);
  run("remember", here({{"text", "the key is <private>hunter2</private> today"},
                        {"title", "a <private>hunter2</private>"}}));
  EXPECT_EQ(
      m.number("SELECT count(*) FROM observations WHERE title || coalesce(narrative, '') LIKE '%hunter2%'"),
      0);
  EXPECT_EQ(run("search", here({{"query", "hunter2"}}))["results"].items().size(), 0u);
}

TEST_F(Memory, ProjectsAreListedByTheirLastUse) {
  Chat other;
  other.session = "other";
  other.cwd = "/home/dev/code/else";
  m.clock.advance(std::chrono::minutes(5));
  m.tell(other.prompt("hello"));
  const Json listed = run("projects.list");
  ASSERT_EQ(listed["projects"].items().size(), 2u);
  EXPECT_EQ(listed["projects"].items()[0]["name"].as_string(), "else");
  EXPECT_EQ(listed["projects"].items()[1]["summaries"].as_int(), 1);
  const Json shown = run("projects.show", here());
  EXPECT_EQ(shown["name"].as_string(), "proj");
  EXPECT_EQ(shown["sessions"].as_int(), 1);
  EXPECT_EQ(shown["recent_sessions"].items().size(), 1u);
  EXPECT_EQ(failure("projects.show", Json::object({{"project", "no"}})), Code::not_found);
}

TEST_F(Memory, StatsAddUpWhatIsThere) {
  const Json all = run("stats", Json::object({{"all", true}}));
  EXPECT_EQ(all["sessions"].as_int(), 1);
  EXPECT_EQ(all["prompts"].as_int(), 1);
  EXPECT_EQ(all["summaries"].as_int(), 1);
  EXPECT_EQ(all["tools"].dump(), R"({"Bash":1,"Write":1})");
  EXPECT_EQ(run("stats", here())["project"].as_string(), "proj");
  EXPECT_EQ(failure("stats", Json::object({{"project", "no"}})), Code::not_found);
}

TEST_F(Memory, TheLogOfContextsSaysWhatWasGivenToWhom) {
  Chat next;
  next.session = "next";
  m.ask(next.start());
  Chat deaf;
  deaf.session = "deaf";
  m.ask(deaf.start(), false);
  const Json log = run("context.log", here());
  ASSERT_GE(log["given"].items().size(), 2u);
  const Json& newest = log["given"].items()[0];
  EXPECT_EQ(newest["session"].as_string(), "deaf");
  EXPECT_FALSE(newest["given"].as_bool());
  const Json& given = log["given"].items()[1];
  EXPECT_TRUE(given["given"].as_bool());
  EXPECT_EQ(given["source"].as_string(), "startup");
  EXPECT_GT(given["tokens"].as_int(), 0);
  EXPECT_EQ(given["items"].items()[0].as_string(), "S1");
  EXPECT_EQ(run("context.log", here({{"limit", 1}}))["given"].items().size(), 1u);
}

TEST_F(Memory, ASessionIsSummarisedAgainOnDemand) {
  must(m.db().exec("UPDATE session_summaries SET request = 'spoilt'"));
  const Json made = run("sessions.summarize", Json::object({{"id", 1}}));
  ASSERT_EQ(made["summaries"].items().size(), 1u);
  EXPECT_EQ(made["summaries"].items()[0]["request"].as_string(), "fix the lexer");
  must(m.db().exec("UPDATE session_summaries SET request = 'by a model', provider = 'claude-cli'"));
  EXPECT_EQ(
      run("sessions.summarize", Json::object({{"id", 1}}))["summaries"].items()[0]["request"].as_string(),
      "by a model");
  EXPECT_EQ(failure("sessions.summarize", Json::object({{"id", "nobody"}})), Code::not_found);
}

TEST_F(Memory, EveryOperationRefusesArgumentsItDoesNotKnow) {
  for (const ops::Operation& operation : ops::operations()) {
    const auto refused = m.run(operation.name, Json::object({{"frobnicate", 1}}));
    ASSERT_FALSE(refused.ok()) << operation.name;
    EXPECT_EQ(refused.error().code, Code::invalid) << operation.name;
    EXPECT_NE(refused.error().message.find("frobnicate"), std::string::npos) << refused.error().message;
    EXPECT_EQ(m.run(operation.name, Json("text")).error().code, Code::invalid) << operation.name;
  }
}

}  // namespace
}  // namespace cairn::test
