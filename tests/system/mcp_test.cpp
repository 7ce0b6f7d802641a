// `cairn mcp` as a client meets it: the real program and daemon, the official SDK, and ends of every kind.
#include <signal.h>

#include <algorithm>

#include "base/text.h"
#include "cli_home.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kStart =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}})"
    "\n";
constexpr std::string_view kSearch =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"lexer"}}})"
    "\n";

class Mcp : public CliHome {
 protected:
  Program server(std::string input = {}) const {
    return {.argv = {kCairn, "mcp"},
            .env = environment(),
            .clean_env = true,
            .cwd = project(),
            .input = std::move(input)};
  }
  // Every line of it is one message.
  static std::vector<Json> messages(const std::string& out) {
    std::vector<Json> all;
    for (const std::string_view line : lines(out)) {
      if (line.empty()) continue;
      auto message = Json::parse(line);
      EXPECT_TRUE(message.ok()) << line;
      if (message) all.push_back(*std::move(message));
    }
    return all;
  }
  static bool answered(const Background& server, int id) {
    return server.out().find("\"id\":" + std::to_string(id) + ",") != std::string::npos;
  }
};

TEST_F(Mcp, TheOfficialClientListsCallsAndCancels) {
  play_session();
  const Outcome outcome = call("node", {CAIRN_MCP_CLIENT, CAIRN_MCP_SDK, kCairn, project()});
  ASSERT_TRUE(outcome.ok()) << "scripts/fetch_mcp_sdk installs the client: " << outcome.describe();
  const Json seen = Json::parse(outcome.out).value_or(Json());
  EXPECT_EQ(seen["server"]["name"].as_string(), "cairn");
  EXPECT_EQ(seen["stderr"].as_string(), "");
  EXPECT_GE(seen["tools"].items().size(), 5u);
  EXPECT_NE(seen["search"]["text"].as_string().find("lexer"), std::string_view::npos) << seen.dump(1);
  EXPECT_NE(seen["get"]["text"].as_string().find("wide words"), std::string_view::npos) << seen.dump(1);
  EXPECT_NE(seen["timeline"]["text"].as_string().find(seen["id"].as_string()), std::string_view::npos);
  EXPECT_NE(seen["remember"]["text"].as_string().find("candidate"), std::string_view::npos);
  EXPECT_NE(seen["resume"]["text"].as_string().find("lexer"), std::string_view::npos);
  EXPECT_TRUE(seen["missing"]["isError"].as_bool());
  EXPECT_TRUE(seen["wrong"]["isError"].as_bool());
  EXPECT_EQ(seen["unknown"].as_int(), -32602);
  EXPECT_EQ(seen["prompts"].as_int(), -32601);
  EXPECT_TRUE(seen["canceled"].as_bool());
  EXPECT_NE(seen["after"]["text"].as_string().find("ninja"), std::string_view::npos) << "it serves on";
}

TEST_F(Mcp, AnswersEverythingBeforeTheEndOfItsInputAndThenEnds) {
  play_session();
  std::string input(kStart);
  input += kSearch;
  input += "nonsense\n";
  const Outcome outcome = run(server(input + R"({"jsonrpc":"2.0","id":2,"method":"ping"})"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_EQ(outcome.err, "");
  const auto all = messages(outcome.out);
  ASSERT_EQ(all.size(), 4u) << outcome.out;
  const auto by_id = [&](int id) {
    return *std::find_if(all.begin(), all.end(), [&](const Json& m) { return m["id"].as_int(-1) == id; });
  };
  EXPECT_EQ(by_id(0)["result"]["protocolVersion"].as_string(), "2025-06-18");
  EXPECT_NE(by_id(1)["result"]["content"].items()[0]["text"].as_string().find("lexer"),
            std::string_view::npos);
  EXPECT_TRUE(by_id(2)["result"].is_object());
}

// The host does not wait for a slow server: this one needs no daemon to start.
TEST_F(Mcp, IsReadyWithinATenthOfASecondAndStartsNoDaemonForThat) {
  std::chrono::milliseconds best = 10s;
  for (int i = 0; i < 5; ++i) {
    const Outcome outcome = run(server(std::string(kStart)));
    ASSERT_EQ(messages(outcome.out).size(), 1u) << outcome.describe();
    best = std::min(best, outcome.elapsed);
  }
#ifndef CAIRN_SANITIZED
  EXPECT_LT(best, 100ms);
#endif
  EXPECT_FALSE(std::filesystem::exists(home() + "/daemon.sock"));
}

TEST_F(Mcp, EndsByEverySignalThatAHostSends) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    Background serving(server(std::string(kStart)));
    ASSERT_TRUE(wait_until([&] { return answered(serving, 0); }, 10s));
    serving.signal(number);
    const auto outcome = serving.wait(5s);
    ASSERT_TRUE(outcome.has_value()) << number;
    EXPECT_EQ(outcome->exit_code, 0) << number;
    EXPECT_EQ(outcome->err, "");
  }
}

TEST_F(Mcp, EndsWithItsParentEvenIfItsInputStaysOpen) {
  // The shell starts it with a stdin that this test keeps open, says its pid, and is killed.
  Program program = server();
  program.argv = {"/bin/sh", "-c", "exec 3<&0; '" + kCairn + "' mcp <&3 & echo $!; wait"};
  Background shell(program);
  ASSERT_TRUE(wait_until([&] { return shell.out().find('\n') != std::string::npos; }, 10s));
  const pid_t pid = std::stoi(shell.out());
  ASSERT_TRUE(shell.write_input(kStart));
  ASSERT_TRUE(wait_until([&] { return answered(shell, 0); }, 10s)) << shell.out();
  shell.signal(SIGKILL);
  EXPECT_TRUE(wait_until([&] { return !is_running(pid); }, 5s));
}

TEST_F(Mcp, ServesOnWhenTheDaemonWasKilledBetweenTwoCalls) {
  play_session();
  Background serving(server(std::string(kStart) + std::string(kSearch)));
  ASSERT_TRUE(wait_until([&] { return answered(serving, 1); }, 20s)) << serving.out();
  const auto daemons = processes_with(" daemon run");
  for (const pid_t here : processes_with_env("CAIRN_HOME=" + home()))
    if (std::find(daemons.begin(), daemons.end(), here) != daemons.end()) kill(here, SIGKILL);
  serving.write_input(
      R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"search","arguments":{"query":"lexer"}}})"
      "\n");
  ASSERT_TRUE(wait_until([&] { return answered(serving, 5); }, 20s)) << serving.out();
  EXPECT_EQ(messages(serving.out()).back()["result"]["isError"].as_bool(), false) << serving.out();
}

TEST_F(Mcp, SurvivesALineOfTenMegabytesAndRandomBytes) {
  std::string input(10u << 20, 'x');
  input += "\n";
  for (int i = 0; i < 4096; ++i) input += static_cast<char>((i * 7919) % 256);
  input += "\n" + std::string(kStart);
  const Outcome outcome = run(server(input));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto all = messages(outcome.out);
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all.front()["error"]["code"].as_int(), -32600);
  EXPECT_EQ(all.back()["id"].as_int(-1), 0);
}

TEST_F(Mcp, AFailureToStartTheDaemonIsAResultThatSaysWhatToDo) {
  write_file(dir_ / "file", "no directory");
  Program program = server(std::string(kStart) + std::string(kSearch));
  for (std::string& variable : program.env)
    if (variable.starts_with("CAIRN_HOME=")) variable = "CAIRN_HOME=" + (dir_ / "file/home");
  const Outcome outcome = run(program);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.describe();
  EXPECT_EQ(outcome.err, "");
  const auto all = messages(outcome.out);
  ASSERT_EQ(all.size(), 2u) << outcome.out;
  EXPECT_TRUE(all[1]["result"]["isError"].as_bool()) << outcome.out;
}

TEST_F(Mcp, TellsAPersonWhoStartsIt) {
  const Outcome help = cairn({"mcp", "--help"});
  EXPECT_NE(help.out.find("cairn install"), std::string::npos);
}

}  // namespace
}  // namespace cairn::test
