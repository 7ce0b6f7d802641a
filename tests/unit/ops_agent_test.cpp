// Requests of an agent: bound to the project that it works in, unless the user allows more.
#include <gtest/gtest.h>

#include "ops/operation.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

class AgentScope : public testing::Test {
 protected:
  AgentScope() {
    must(m.open());
    must(m.run("remember", Json::object({{"cwd", kHere}, {"text", "the lexer rounds down"}})));   // O1
    must(m.run("remember", Json::object({{"cwd", kThere}, {"text", "the lexer of the bank"}})));  // O2
  }
  Result<Json> ask(std::string_view operation, std::initializer_list<Json::Member> members) {
    Json args = Json::object({{"agent", true}, {"cwd", kHere}});
    for (const auto& [key, value] : members) args.set(key, value);
    return m.run(operation, args);
  }

  static constexpr const char* kHere = "/home/dev/code/proj";
  static constexpr const char* kThere = "/home/dev/code/bank";
  Machine m;
};

TEST_F(AgentScope, AnAgentFindsWhatIsOfItsProjectAndNothingElse) {
  const Json found = must(ask("search", {{"query", "lexer"}}));
  ASSERT_EQ(found["results"].items().size(), 1u) << found.dump(1);
  EXPECT_EQ(found["results"].items()[0]["id"].as_string(), "O1");
  EXPECT_GT(found["results"].items()[0]["tokens"].as_int(), 0);
}

TEST_F(AgentScope, ARecordOfAnotherProjectDoesNotExistForIt) {
  EXPECT_EQ(ask("show", {{"ids", Json::array({"O2"})}}).error().code, Code::not_found);
  EXPECT_EQ(ask("timeline", {{"id", "O2"}}).error().code, Code::not_found);
  const Json both = must(ask("show", {{"ids", Json::array({"O1", "O2"})}}));
  EXPECT_EQ(both["records"].items().size(), 1u);
  EXPECT_EQ(both["missing"].items()[0].as_string(), "O2");
  EXPECT_TRUE(m.run("show", Json::object({{"ids", Json::array({"O2"})}})).ok()) << "a person sees all";
}

TEST_F(AgentScope, AnotherProjectIsRefusedAndTheSettingIsNamed) {
  for (const auto& [name, value] : {std::pair<const char*, Json>("all", true), {"project", "bank"}}) {
    Json args = Json::object({{"agent", true}, {"query", "lexer"}, {name, value}});
    const auto refused = m.run("search", args);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::denied);
    EXPECT_NE(refused.error().message.find("recall.agent_scope"), std::string::npos);
  }
}

TEST_F(AgentScope, AllFalseDoesNotAskForEveryProject) {
  EXPECT_TRUE(ask("search", {{"all", false}, {"query", "lexer"}}).ok());
}

TEST_F(AgentScope, WithTheSettingItMayAskForAll) {
  m.put_file(m.home.config_file, "[recall]\nagent_scope = \"all\"\n");
  const Json all = must(m.run("search", Json::object({{"agent", true}, {"all", true}, {"query", "lexer"}})));
  EXPECT_EQ(all["results"].items().size(), 2u);
  EXPECT_TRUE(ask("show", {{"ids", Json::array({"O2"})}}).ok());
  EXPECT_EQ(must(ask("search", {{"query", "lexer"}}))["results"].items().size(), 1u) << "but must ask for it";
}

TEST_F(AgentScope, InAProjectThatIsNotRememberedItSeesNothingAndMayRemember) {
  const Json nowhere =
      Json::object({{"agent", true}, {"cwd", "/home/dev/code/new"}, {"ids", Json::array({"O1"})}});
  EXPECT_EQ(m.run("show", nowhere).error().code, Code::not_found);
  const Json note = Json::object(
      {{"agent", true}, {"cwd", "/home/dev/code/new"}, {"text", "builds with make"}, {"by", "agent"}});
  EXPECT_EQ(must(m.run("remember", note))["by"].as_string(), "agent");
}

TEST_F(AgentScope, WithoutADirectoryIsRefused) {
  const auto refused = m.run("show", Json::object({{"agent", true}, {"ids", Json::array({"O1"})}}));
  EXPECT_EQ(refused.error().code, Code::invalid);
}

}  // namespace
}  // namespace cairn::test
