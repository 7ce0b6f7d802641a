// `cairn agent test` and the provider of a real daemon, against a scripted API.
#include <filesystem>

#include "support/http_server.h"
#include "system/home_fixture.h"

namespace cairn::test {

class AgentCommand : public HomeTest {
 protected:
  static constexpr const char* kKey = "sk-ant-test-5up3rs3cr3tk3yf0rt3sts";

  static void say(HttpPeer& peer, const std::string& text) {
    peer.reply(200,
               Json::object({{"type", "message"},
                             {"model", "small-1"},
                             {"content", Json::array({Json::object({{"type", "text"}, {"text", text}})})},
                             {"usage", Json::object({{"input_tokens", 42}, {"output_tokens", 3}})}})
                   .dump());
  }
  Outcome ask(std::vector<std::string> arguments, const HttpServer& server) {
    Program p = program("cairn", std::move(arguments));
    p.env.insert(p.env.end(), {"CAIRN_AGENT_PROVIDER=anthropic", "CAIRN_AGENT_ENDPOINT=" + server.url(),
                               std::string("CAIRN_AGENT_KEY=") + kKey, "CAIRN_AGENT_BATCH_WAIT_SECONDS=0"});
    return run(p);
  }
};

TEST_F(AgentCommand, MakesOneCallAndShowsWhatItTook) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say(peer, "ready"); });
  const Outcome shown = ask({"agent", "test"}, server);
  EXPECT_EQ(shown.exit_code, 0) << shown.describe();
  for (const char* words : {"anthropic", "small-1", "42 in, 3 out", "ready"})
    EXPECT_NE(shown.out.find(words), std::string::npos) << shown.out;
  const auto result = Json::parse(ask({"agent", "test", "--json"}, server).out);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE((*result)["ok"].as_bool());
  EXPECT_EQ((*result)["input_tokens"].as_int(), 42);
  EXPECT_TRUE((*result)["trouble"].is_null());
  EXPECT_EQ(server.asked().size(), 2u);
}

TEST_F(AgentCommand, IsInTheLedgerAndNotMadeBeyondTheBudget) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say(peer, "ready"); });
  ASSERT_EQ(ask({"agent", "test"}, server).exit_code, 0);
  const auto status = Json::parse(ask({"status", "--json"}, server).out);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ((*status)["model"]["calls_today"].as_int(), 1) << (*status)["model"].dump();
  EXPECT_EQ((*status)["model"]["tokens_today"].as_int(), 45) << (*status)["model"].dump();
  ASSERT_TRUE(cairn({"config", "set", "budget.daily_tokens", "100"}).ok());
  const Outcome refused = ask({"agent", "test"}, server);
  EXPECT_EQ(refused.exit_code, 1) << refused.describe();
  EXPECT_NE(refused.err.find("budget"), std::string::npos) << refused.err;
  EXPECT_EQ(server.asked().size(), 1u);
}

TEST_F(AgentCommand, SaysWhatIsWrongAndWhatToDo) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) {
    peer.reply(401, R"({"error":{"type":"authentication_error","message":"invalid x-api-key"}})");
  });
  const Outcome refused = ask({"agent", "test"}, server);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("auth: "), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("check the key"), std::string::npos) << refused.err;
  const Outcome missing = ask({"agent", "test", "--provider", "claude-cli"}, server);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("setup: there is no claude"), std::string::npos) << missing.err;
  const Outcome unknown = ask({"agent", "test", "--provider", "oracle"}, server);
  EXPECT_EQ(unknown.exit_code, 2) << unknown.describe();
  const Outcome builtin = ask({"agent", "test", "--provider", "builtin"}, server);
  EXPECT_EQ(builtin.exit_code, 0) << builtin.describe();
  EXPECT_NE(ask({"doctor"}, server).out.find("anthropic is set up"), std::string::npos);
}

TEST_F(AgentCommand, ASettingChangesTheProviderOfARunningDaemon) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) { say(peer, "<skip reason=\"test\"/>"); });
  // The variable is for the test's watch over networks; the setting below is another one.
  ASSERT_EQ(ask({"status"}, server).exit_code, 0);
  Program p = program("cairn", {"agent", "test", "--provider", "openai", "--model", "m", "--endpoint",
                                server.url(), "--json"});
  const auto result = Json::parse(run(p).out);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)["provider"].as_string(), "openai");
  EXPECT_TRUE(cairn({"config", "set", "agent.model", "other"}).ok());
  EXPECT_TRUE(
      wait_until([this] { return log().find("provider=anthropic model=other") != std::string::npos; }, 5s))
      << log();
}

TEST_F(AgentCommand, LeavesNoKeyInTheHomeTheLogOrACommandLine) {
  const HttpServer server([](const HttpAsked&, HttpPeer& peer) {
    peer.reply(400,
               R"({"error":{"type":"invalid_request_error","message":"no: )" + std::string(kKey) + R"("}})");
  });
  const Outcome refused = ask({"agent", "test"}, server);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ((refused.out + refused.err).find(kKey), std::string::npos) << refused.describe();
  EXPECT_NE(server.asked().at(0).headers.find(kKey), std::string::npos) << "it was sent to the API";
  hook("UserPromptSubmit", payload("one", Json::object({{"prompt", "work"}, {"prompt_id", "p1"}})));
  hook("Stop", payload("one", Json::object({{"prompt_id", "p1"}, {"last_assistant_message", "Done."}})));
  ASSERT_TRUE(wait_until([&] { return server.asked().size() >= 2; }, 10s)) << "the queue uses it too";
  for (const pid_t pid : daemons())
    EXPECT_EQ(read_text("/proc/" + std::to_string(pid) + "/cmdline").find(kKey), std::string::npos);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home_.data))
    if (entry.is_regular_file()) {
      EXPECT_EQ(read_text(entry.path().string()).find(kKey), std::string::npos) << entry.path();
    }
}

}  // namespace cairn::test
