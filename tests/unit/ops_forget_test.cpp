// Forgetting on request: an agent hides, the user decides.
#include <gtest/gtest.h>

#include "store/audit.h"
#include "store/standing.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class ForgetRequests : public testing::Test {
 protected:
  ForgetRequests() {
    must(m.open());
    m.tell(chat.start());
    m.tell(chat.prompt("teach the quokka lexer to read trigraphs"));
    m.tell(chat.wrote("quokka.cpp", "t1"));
    m.tell(chat.stop("The quokka lexer reads trigraphs now. Next: test the wombat parser."));
    m.tell(chat.prompt("now the wombat parser"));
    m.tell(chat.wrote("wombat.cpp", "t2"));
    m.tell(chat.stop("The wombat parser is done."));
  }
  Json run(std::string_view name, Json args = Json::object()) { return must(m.run(name, std::move(args))); }
  std::string found(const std::string& query) {
    std::string ids;
    const Json result = run("search", Json::object({{"all", true}, {"query", query}, {"limit", 100}}));
    for (const Json& hit : result["results"].items()) {
      ids += std::string(hit["id"].as_string()) + " ";
      for (const Json& also : hit["also"].items()) ids += std::string(also.as_string()) + " ";
    }
    return ids;
  }
  Json ask(std::initializer_list<Json> ids) {
    Json list = Json::array();
    for (const Json& id : ids) list.push(id);
    return run("forget.request",
               Json::object({{"ids", list}, {"reason", "it is wrong"}, {"agent", true}, {"cwd", chat.cwd}}));
  }

  Machine m;
  Chat chat;
};

TEST_F(ForgetRequests, HideARecordAtOnceFromSearchContextTimelineAndShow) {
  const std::string before = found("quokka");
  ASSERT_NE(before.find("S1 "), std::string::npos) << before;
  for (const std::string kind : {"O", "S", "P", "T", "W"}) {
    const std::string table = kind == "O"   ? "observations"
                              : kind == "S" ? "session_summaries"
                              : kind == "P" ? "user_prompts"
                              : kind == "T" ? "texts"
                                            : "open_items";
    for (const std::string& row : m.rows("SELECT id FROM " + table)) ask({kind + row});
  }
  EXPECT_EQ(found("quokka"), "");
  EXPECT_EQ(found("wombat"), "");
  EXPECT_FALSE(m.run("show", Json::object({{"ids", Json::array({"S1", "P1"})}})).ok());
  EXPECT_FALSE(m.run("timeline", Json::object({{"id", "S1"}})).ok());
  const std::string context =
      std::string(run("context", Json::object({{"cwd", chat.cwd}}))["text"].as_string());
  EXPECT_EQ(context.find("quokka lexer"), std::string::npos) << context;
  EXPECT_EQ(context.find("wombat parser"), std::string::npos) << context;
}

TEST_F(ForgetRequests, WaitForTheUserWhoKeepsWhatTheAgentWasWrongAbout) {
  const std::string before = found("quokka");
  const Json asked = ask({"S1", "P1"});
  EXPECT_EQ(asked["hidden"].items().size(), 2u);
  EXPECT_EQ(ask({"S1"})["already_hidden"].items().size(), 1u);
  const Json pending = run("forget", Json::object({{"pending", true}, {"cwd", chat.cwd}}))["pending"];
  ASSERT_EQ(pending.items().size(), 2u);
  EXPECT_EQ(pending.items()[0]["id"].as_string(), "S1");
  EXPECT_EQ(pending.items()[0]["reason"].as_string(), "it is wrong");
  EXPECT_NE(pending.items()[1]["title"].as_string().find("trigraphs"), std::string::npos);
  run("forget", Json::object({{"keep", Json::array({"S1", "P1"})}, {"cwd", chat.cwd}}));
  EXPECT_EQ(found("quokka"), before);
  EXPECT_TRUE(run("forget", Json::object({{"pending", true}, {"cwd", chat.cwd}}))["pending"].items().empty());
  EXPECT_EQ(m.run("forget", Json::object({{"keep", Json::array({"S1"})}, {"cwd", chat.cwd}})).error().code,
            Code::not_found);
  const auto check = must(store::check_audit(m.db(), m.engine->key()));
  EXPECT_EQ(check.entries, 4);
  EXPECT_FALSE(check.broken);
}

TEST_F(ForgetRequests, ReachNoOtherProject) {
  Chat other;
  other.session = "other";
  other.cwd = "/home/dev/other";
  m.tell(other.start());
  m.tell(other.prompt("the numbat compiler"));
  m.tell(other.stop("Done."));
  const std::string prompt = "P" + m.text("SELECT id FROM user_prompts WHERE content_session_id = 'other'");
  EXPECT_EQ(m.run("forget.request",
                  Json::object({{"ids", Json::array({prompt})}, {"agent", true}, {"cwd", chat.cwd}}))
                .error()
                .code,
            Code::not_found);
  EXPECT_NE(found("numbat"), "");
}

TEST_F(ForgetRequests, AreAppliedWholeOrNotAtAll) {
  EXPECT_FALSE(m.run("forget.request", Json::object({{"ids", Json::array({"S1", "S99"})}})).ok());
  EXPECT_NE(found("quokka").find("S1 "), std::string::npos);
}

TEST_F(ForgetRequests, EveryRecordHasAnActorByTheWayItCameIn) {
  const auto actor = [&](const std::string& id) {
    return must(store::standing_of(m.db(), *store::read_record_name(id)))->actor;
  };
  const auto stored = [&](const char* by) {
    return std::string(run("remember", Json::object({{"cwd", chat.cwd},
                                                     {"text", "I, the user, confirm and verify this"},
                                                     {"by", by}}))["id"]
                           .as_string());
  };
  EXPECT_EQ(actor("S1"), store::Actor::distiller);
  EXPECT_EQ(actor("P1"), store::Actor::person);
  EXPECT_EQ(actor(stored("person")), store::Actor::person);
  const std::string agents = stored("agent");
  EXPECT_EQ(actor(agents), store::Actor::agent);
  EXPECT_EQ(must(store::standing_of(m.db(), *store::read_record_name(agents)))->trust,
            store::Trust::candidate);
}

TEST_F(ForgetRequests, AScanForgetsTheMarkersOfASecretWithTheSecret) {
  const std::string secret = "gh" + std::string("p_") + "aB3xY7qLm2Zt9RkV5wNc8HdJ4sGf6PbT1uEo";
  m.tell(chat.prompt("the token is " + secret + " of the bandicoot"));
  m.tell(chat.stop("Noted."));
  const std::string marker = m.text("SELECT prompt_text FROM user_prompts ORDER BY id DESC LIMIT 1");
  ASSERT_NE(marker.find("[secret:"), std::string::npos) << marker;
  // As an older version, with fewer rules, stored it.
  must(m.db().run("UPDATE user_prompts SET prompt_text = ? WHERE id = 1", "an old one: " + secret));
  EXPECT_EQ(run("scan", Json::object({{"forget", true}}))["forgetting"].as_int(), 1);
  m.clock.advance(std::chrono::minutes(2));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(m.text("SELECT phase FROM forgets"), "done");
  EXPECT_EQ(m.text("SELECT prompt_text FROM user_prompts WHERE id = 1"), "an old one: [forgotten]");
  EXPECT_EQ(m.text("SELECT prompt_text FROM user_prompts ORDER BY id DESC LIMIT 1"),
            "the token is [forgotten] of the bandicoot");
}

TEST(Audit, FindsAChangedAndAMissingEntry) {
  Machine m;
  must(m.open());
  const WallTime now = m.clock.now();
  for (const char* what : {"forget", "edit", "reject"})
    must(store::add_audit(m.db(), m.engine->key(), what, "person", "O1", "{}", now));
  EXPECT_FALSE(must(store::check_audit(m.db(), m.engine->key())).broken);
  EXPECT_FALSE(m.db().run("UPDATE audit SET what = 'x' WHERE id = 2").ok());
  EXPECT_FALSE(m.db().run("DELETE FROM audit").ok());
  must(m.db().exec("DROP TRIGGER audit_is_final; DROP TRIGGER audit_stays"));
  must(m.db().run("UPDATE audit SET what = 'x' WHERE id = 2"));
  EXPECT_EQ(must(store::check_audit(m.db(), m.engine->key())).broken, 2);
  must(m.db().run("UPDATE audit SET what = 'edit' WHERE id = 2"));
  EXPECT_FALSE(must(store::check_audit(m.db(), m.engine->key())).broken);
  must(m.db().run("DELETE FROM audit WHERE id = 3"));
  EXPECT_EQ(must(store::check_audit(m.db(), m.engine->key())).broken, 3);
}

}  // namespace
}  // namespace cairn::test
