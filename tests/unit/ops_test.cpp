// The operations that commands call, and what they answer.
#include <gtest/gtest.h>

#include "ops/operation.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class Ops : public testing::Test {
 protected:
  Ops() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("fix the lexer"));
    m.tell(chat.wrote("lexer.cpp", "t1"));
    m.tell(chat.stop("Fixed."));
  }
  Json run(std::string_view name, Json args = Json::object()) { return must(m.run(name, std::move(args))); }
  Code failure(std::string_view name, Json args) { return m.run(name, std::move(args)).error().code; }

  Machine m;
  Chat chat;
};

TEST_F(Ops, StatusHasTheKeysOfTheContract) {
  m.deliver(chat.call("Notification", {{"message", "waits"}}));
  const Json status = run("status");
  EXPECT_EQ(status["queue"].dump(), R"({"pending":0,"processing":0,"processed":2,"failed":0})");
  EXPECT_EQ(status["inbox"].as_int(), 1);
  EXPECT_EQ(status["ledger"]["delivered"].as_int(), 5);
  EXPECT_EQ(status["ledger"]["taken_in"].as_int(), 4);
  EXPECT_EQ(status["ledger"]["recovered"].as_int(), 0);
  EXPECT_EQ(status["ledger"]["gap"].as_int(), 1);
  EXPECT_EQ(status["sessions"].as_int(), 1);
  EXPECT_EQ(status["problems"].dump(), "[]");
  must(m.drain());
  EXPECT_EQ(run("status")["ledger"]["gap"].as_int(), 0);
}

TEST_F(Ops, SessionsAreListedByProjectNewestFirst) {
  Chat other;
  other.session = "other";
  m.tell(other.start());
  Chat elsewhere;
  elsewhere.session = "elsewhere";
  elsewhere.cwd = "/home/dev/code/else";
  m.tell(elsewhere.start());
  const Json listed = run("sessions.list", Json::object({{"cwd", chat.cwd}}));
  ASSERT_EQ(listed["sessions"].items().size(), 2u);
  EXPECT_EQ(listed["sessions"].items()[0]["content_session_id"].as_string(), "other");
  EXPECT_EQ(run("sessions.list", Json::object({{"all", true}}))["sessions"].items().size(), 3u);
  EXPECT_EQ(run("sessions.list", Json::object({{"all", true}, {"limit", 1}}))["sessions"].items().size(), 1u);
  EXPECT_EQ(failure("sessions.list", Json::object({{"project", "nobody's"}})), Code::not_found);
  EXPECT_EQ(failure("sessions.list", Json::object({{"cwd", "/home/dev/unheard"}})), Code::not_found);
}

TEST_F(Ops, ASessionIsShownWithBothIdsItsTurnsAndEvents) {
  const Json shown = run("sessions.show", Json::object({{"id", chat.session}, {"events", true}}));
  EXPECT_EQ(shown["state"].as_string(), "CAPTURED");
  EXPECT_EQ(shown["turns"].items().size(), 1u);
  EXPECT_EQ(shown["turns"].items()[0]["summary"].as_string(), "S1");
  EXPECT_EQ(shown["events"].items().size(), 4u);
  EXPECT_EQ(shown["events_by_outcome"].dump(), R"({"stored":4})");
  EXPECT_EQ(run("sessions.show", Json::object({{"id", 1}}))["content_session_id"].as_string(), chat.session);
  EXPECT_EQ(run("sessions.show", Json::object({{"id", chat.session.substr(0, 6)}}))["id"].as_int(), 1);
  Chat fresh;
  fresh.session = chat.session.substr(0, 30) + "other";
  m.tell(fresh.start());
  EXPECT_EQ(run("sessions.show", Json::object({{"id", fresh.session}}))["state"].as_string(), "NOT_CAPTURED");
  EXPECT_EQ(failure("sessions.show", Json::object({{"id", chat.session.substr(0, 6)}})), Code::invalid);
  EXPECT_EQ(failure("sessions.show", Json::object({{"id", "nobody"}})), Code::not_found);
  EXPECT_EQ(failure("sessions.show", Json::object()), Code::invalid);
}

TEST_F(Ops, ASessionIsEndedByHandOnce) {
  m.tell(chat.prompt("more"));
  const Json ended = run("sessions.end", Json::object({{"id", 1}}));
  EXPECT_TRUE(ended["changed"].as_bool());
  EXPECT_EQ(ended["status"].as_string(), "failed");
  EXPECT_EQ(ended["end_reason"].as_string(), "by hand");
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 2);
  EXPECT_FALSE(run("sessions.end", Json::object({{"id", 1}}))["changed"].as_bool());
}

TEST_F(Ops, RecordsAreShownById) {
  const Json shown = run("show", Json::object({{"ids", Json::array({"S1", "p1"})}}));
  ASSERT_EQ(shown["records"].items().size(), 2u);
  EXPECT_EQ(shown["records"].items()[0]["request"].as_string(), "fix the lexer");
  EXPECT_EQ(shown["records"].items()[1]["text"].as_string(), "fix the lexer");
  EXPECT_EQ(failure("show", Json::object({{"ids", Json::array({"S99"})}})), Code::not_found);
  for (const char* bad : {"", "S", "X1", "S1x", "1", "S 1", "S99999999999999999999"})
    EXPECT_EQ(failure("show", Json::object({{"ids", Json::array({bad})}})), Code::invalid) << bad;
}

TEST_F(Ops, AMessageIsShownWithAllItsFields) {
  const Json shown = run("queue.show", Json::object({{"id", 1}}));
  for (const char* key :
       {"id", "session_db_id", "content_session_id", "message_type", "tool_name", "tool_input",
        "tool_response", "cwd", "last_user_message", "last_assistant_message", "prompt_number", "status",
        "retry_count", "created_at_epoch", "started_processing_at_epoch", "completed_at_epoch"})
    EXPECT_TRUE(shown.has(key)) << key;
  EXPECT_EQ(failure("queue.show", Json::object({{"id", 99}})), Code::not_found);
}

TEST_F(Ops, TheQueueIsListedByWhatNeedsAPersonFirst) {
  m.tell(chat.prompt("more"));
  m.tell(chat.ran("make", "t2"));
  const Json waiting = run("queue.list");
  ASSERT_EQ(waiting["messages"].items().size(), 1u);
  EXPECT_EQ(waiting["messages"].items()[0]["status"].as_string(), "pending");
  EXPECT_EQ(run("queue.list", Json::object({{"status", "processed"}}))["messages"].items().size(), 2u);
  EXPECT_EQ(failure("queue.list", Json::object({{"session", "nobody"}})), Code::not_found);
  EXPECT_EQ(failure("queue.list", Json::object({{"status", "lost"}})), Code::invalid);
  m.clock.advance(std::chrono::seconds(30));
  const Json stats = run("queue.stats");
  EXPECT_EQ(stats["pending"].as_int(), 1);
  EXPECT_EQ(stats["oldest_pending_s"].as_int(), 30);
  EXPECT_EQ(stats["sessions"].as_int(), 1);
}

TEST_F(Ops, EveryDiagnosticQueryRuns) {
  const Json all = run("debug.sql");
  EXPECT_GE(all["queries"].items().size(), 9u);
  for (const Json& query : all["queries"].items()) {
    const Json found =
        run("debug.sql", Json::object({{"name", query["name"].as_string()}, {"id", chat.session}}));
    EXPECT_FALSE(found["columns"].items().empty()) << query["name"].as_string();
  }
  const Json ids = run("debug.sql", Json::object({{"name", "ids"}, {"id", chat.session}}));
  ASSERT_EQ(ids["rows"].items().size(), 1u);
  EXPECT_EQ(ids["rows"].items()[0].items()[2].as_string(), "CAPTURED");
  EXPECT_EQ(failure("debug.sql", Json::object({{"name", "ids"}})), Code::invalid);
  EXPECT_EQ(failure("debug.sql", Json::object({{"name", "drop"}})), Code::invalid);
}

TEST_F(Ops, ContextNamesOneProjectAndHonoursTheBudget) {
  const Json full = run("context", Json::object({{"project", "proj"}}));
  EXPECT_EQ(full["items"].dump(), R"(["S1"])");
  EXPECT_EQ(full["project"].as_string(), "proj");
  EXPECT_EQ(run("context", Json::object({{"project", "proj"}, {"budget", 0}}))["text"].as_string(), "");
  EXPECT_EQ(failure("context", Json::object({{"all", true}})), Code::invalid);
  EXPECT_EQ(failure("context", Json::object({{"project", "nobody's"}})), Code::not_found);
}

TEST_F(Ops, EveryOperationSurvivesArgumentsOfTheWrongKind) {
  const std::vector<Json> kinds = {
      Json(), false, -7, 1e300, "x\0y", Json::array({1, "O1", Json::object()}), Json::object({{"id", 1}})};
  for (const ops::Operation& operation : ops::operations()) {
    for (const Json& args : {Json(), Json("text"), Json::array({1, 2})}) ignore(m.run(operation.name, args));
    for (const Json& kind : kinds) {
      Json all = Json::object();
      for (const ops::Argument& argument : operation.arguments) {
        ignore(m.run(operation.name, Json::object({{std::string(argument.name), kind}})));
        all.set(argument.name, kind);
      }
      ignore(m.run(operation.name, all));
    }
  }
  EXPECT_TRUE(m.db().integrity_check().ok());
}

}  // namespace
}  // namespace cairn::test
