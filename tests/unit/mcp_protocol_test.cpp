// The protocol of MCP: starting, unknown methods, calls, cancellation, progress, and whatever else may
// arrive.
#include <gtest/gtest.h>

#include <thread>

#include "base/text.h"
#include "mcp/protocol.h"
#include "mcp/transport.h"

namespace cairn::test {
namespace {

using mcp::LineReader;
using mcp::Protocol;

// Answers with what a test wants, and keeps what it was asked.
class ScriptedMemory final : public mcp::Memory {
 public:
  Result<Json> call(std::string_view operation, const Json& args,
                    const std::function<bool()>& waiting) override {
    operations.emplace_back(operation);
    asked.push_back(args);
    if (during) during(waiting);
    if (!waiting()) return Error{Code::canceled, "given up"};
    return result;
  }
  std::vector<std::string> operations;
  std::vector<Json> asked;
  Result<Json> result =
      Json::object({{"results", Json::array()}, {"remembered_since", "2026-11-01T00:00:00Z"}});
  std::function<void(const std::function<bool()>&)> during;
};

class McpProtocol : public testing::Test {
 protected:
  // Sends a line and returns what comes back for it, calls included.
  std::vector<Json> send(std::string_view line) {
    sent.clear();
    protocol.receive(line);
    protocol.work_now();
    return sent;
  }
  Json one(std::string_view line) {
    const auto replies = send(line);
    EXPECT_EQ(replies.size(), 1u) << line;
    return replies.size() == 1 ? replies[0] : Json();
  }
  std::int64_t error_of(std::string_view line) { return one(line)["error"]["code"].as_int(); }
  static std::string call(std::string_view tool, const Json& arguments, int id = 7) {
    return Json::object({{"jsonrpc", "2.0"},
                         {"id", id},
                         {"method", "tools/call"},
                         {"params", Json::object({{"name", tool}, {"arguments", arguments}})}})
        .dump();
  }

  ScriptedMemory memory;
  mcp::Tools tools{memory, {"/home/dev/code/proj", "sess-1"}};
  std::vector<Json> sent;
  Protocol protocol{tools, [this](const Json& message) { sent.push_back(message); }};
};

TEST_F(McpProtocol, InitializeEchoesAnOlderVersionAndAnswersANewerOneWithOurs) {
  const auto version = [&](std::string_view asked) {
    return std::string(one(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                           std::string(asked) + R"("}})")["result"]["protocolVersion"]
                           .as_string());
  };
  for (const char* known : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
    EXPECT_EQ(version(known), known);
  for (const char* other : {"2026-07-28", "", "latest", "2025-1a-25", "2025-11-25x"})
    EXPECT_EQ(version(other), "2025-11-25") << other;
}

TEST_F(McpProtocol, InitializeNamesItselfItsToolsAndWhenToSearch) {
  const Json result = one(R"({"jsonrpc":"2.0","id":"a","method":"initialize"})")["result"];
  EXPECT_EQ(result["serverInfo"]["name"].as_string(), "cairn");
  EXPECT_TRUE(result["capabilities"]["tools"].is_object());
  EXPECT_NE(result["instructions"].as_string().find("Search it before"), std::string_view::npos);
  EXPECT_TRUE(memory.operations.empty()) << "a start asks no daemon";
}

TEST_F(McpProtocol, UnknownMethodsAreRefusedBeforeAndAfterTheStart) {
  const auto unknown = [&] {
    for (const char* method : {"server/discover", "prompts/list", "resources/list", "logging/setLevel", "x"})
      EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + "\"}"), -32601)
          << method;
  };
  unknown();
  one(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})");
  EXPECT_TRUE(send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").empty());
  unknown();
  EXPECT_TRUE(one(R"({"jsonrpc":"2.0","id":2,"method":"ping"})")["result"].is_object());
}

TEST_F(McpProtocol, ACallIsAnsweredUnderItsIdWithTextForTheModel) {
  const Json reply = one(call("search", Json::object({{"query", "lexer"}})));
  EXPECT_EQ(reply["id"].as_int(), 7);
  EXPECT_EQ(reply["result"]["content"].items()[0]["type"].as_string(), "text");
  EXPECT_EQ(reply["result"]["content"].items()[0]["text"].as_string(),
            "nothing found; remembered since 2026-11-01\n");
  EXPECT_FALSE(reply["result"].has("isError"));
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":"text-id","method":"ping"})")["id"].as_string(), "text-id");
}

TEST_F(McpProtocol, FailuresOfAToolAreResultsAndAnUnknownToolIsAnError) {
  memory.result = Error{Code::busy, "daemon: cannot start"};
  const Json reply = one(call("search", Json::object({{"query", "x"}})));
  EXPECT_TRUE(reply["result"]["isError"].as_bool());
  EXPECT_EQ(reply["result"]["content"].items()[0]["text"].as_string(), "daemon: cannot start");
  EXPECT_EQ(error_of(call("drop_tables", Json::object())), -32602);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})"), -32602);
  EXPECT_TRUE(one(call("search", Json(7)))["result"]["isError"].as_bool());
  EXPECT_TRUE(one(call("search", Json::object({{"limit", "many"}})))["result"]["isError"].as_bool());
}

TEST_F(McpProtocol, ACallThatWaitsIsCancelledWithoutAReply) {
  protocol.receive(call("search", Json::object({{"query", "one"}}), 1));
  protocol.receive(call("search", Json::object({{"query", "two"}}), 2));
  protocol.receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  protocol.work_now();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0]["id"].as_int(), 2);
  EXPECT_EQ(memory.asked.size(), 1u);
}

TEST_F(McpProtocol, ACallThatRunsIsGivenUpWithoutAReply) {
  memory.during = [&](const std::function<bool()>& waiting) {
    EXPECT_TRUE(waiting());
    protocol.receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
    EXPECT_FALSE(waiting());
  };
  EXPECT_TRUE(send(call("search", Json::object({{"query", "x"}}))).empty());
}

TEST_F(McpProtocol, ASlowCallReportsProgressToWhoAskedForIt) {
  memory.during = [](const std::function<bool()>& waiting) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1100);
    while (std::chrono::steady_clock::now() < end && waiting())
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  const auto replies = send(
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"},)"
      R"("_meta":{"progressToken":"t"}}})");
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0]["method"].as_string(), "notifications/progress");
  EXPECT_EQ(replies[0]["params"]["progressToken"].as_string(), "t");
  EXPECT_EQ(replies[0]["params"]["progress"].as_int(), 1);
  EXPECT_EQ(replies[1]["id"].as_int(), 3);
}

TEST_F(McpProtocol, WhatIsNoMessageIsRefusedAndTheNextOneAnswered) {
  EXPECT_EQ(error_of("{"), -32700);
  EXPECT_EQ(error_of("\xff\xfe"), -32700);
  EXPECT_EQ(error_of("7"), -32600);
  EXPECT_EQ(error_of("[]"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1})"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":{"a":1},"method":"ping"})"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":7})"), -32600);
  EXPECT_TRUE(send(R"({"jsonrpc":"2.0","id":1,"result":{}})").empty()) << "a reply to nothing of ours";
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")["id"].as_int(), 1);
}

TEST_F(McpProtocol, EveryMessageOfABatchIsAnsweredByItself) {
  const auto replies = send(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"x"}])");
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0]["id"].as_int(), 1);
  EXPECT_EQ(replies[1]["error"]["code"].as_int(), -32601);
  std::string many = "[";
  for (int i = 0; i < 100; ++i)
    many += std::string(i ? "," : "") + R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  EXPECT_EQ(error_of(many + "]"), -32600);
}

TEST_F(McpProtocol, AFloodOfCallsIsRefusedBeyondItsLimit) {
  for (int i = 0; i < 100; ++i) protocol.receive(call("search", Json::object({{"query", "x"}}), i));
  EXPECT_EQ(sent.size(), 100 - Protocol::kMostCalls);
  EXPECT_EQ(sent[0]["error"]["code"].as_int(), -32000);
  protocol.receive(call("search", Json::object({{"query", "x"}}), 1));
  EXPECT_EQ(sent.back()["error"]["code"].as_int(), -32600) << "the id is in use";
  protocol.work_now();
  EXPECT_EQ(sent.size(), 101u);
}

TEST_F(McpProtocol, DeepAndWideMessagesAreReadWithinLimits) {
  std::string deep = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  send(deep);
  for (int i = 0; i < 100'000; ++i) deep += ']';
  EXPECT_EQ(send(deep + "}").size(), 1u);
}

TEST(McpLines, AreCutAtTheirEndsWhateverTheChunks) {
  std::vector<std::string> lines;
  int too_long = 0;
  LineReader reader([&](std::string_view line) { lines.emplace_back(line); }, [&] { ++too_long; });
  for (const char* part : {"on", "e\n\n  \r\ntw", "o\nthr"}) reader.add(part);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  reader.finish();
  EXPECT_EQ(lines.back(), "thr");
  EXPECT_EQ(too_long, 0);
}

TEST(McpLines, ThatAreTooLongAreSkippedOnce) {
  std::vector<std::string> lines;
  int too_long = 0;
  LineReader reader([&](std::string_view line) { lines.emplace_back(line); }, [&] { ++too_long; });
  const std::string mega(1u << 20, 'x');
  for (int i = 0; i < 10; ++i) reader.add(mega);
  reader.add("\nnext\n");
  EXPECT_EQ(too_long, 1);
  EXPECT_EQ(lines, (std::vector<std::string>{"next"}));
}

}  // namespace
}  // namespace cairn::test
