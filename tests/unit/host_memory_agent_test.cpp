// What the host's program writes as a memory agent, line by line, as it was recorded from version 2.1.197.
#include <gtest/gtest.h>

#include "agent/providers/sse.h"
#include "base/json.h"
#include "host/memory_agent.h"

namespace cairn::test {
namespace {

using host::AgentFailure;

const host::MemoryAgent& claude_cli() {
  const host::MemoryAgent* agent = host::find_memory_agent("claude-cli");
  EXPECT_TRUE(agent);
  return *agent;
}

std::optional<host::AgentAnswer> result_of(const Json& result) {
  const auto output = claude_cli().output();
  return output->read(result.dump());
}

AgentFailure failure_of(std::string_view text, Json more = Json::object()) {
  Json result =
      Json::object({{"type", "result"}, {"subtype", "success"}, {"is_error", true}, {"result", text}});
  for (const auto& [key, value] : more.members()) result.set(key, value);
  const auto answer = result_of(result);
  EXPECT_TRUE(answer && answer->failure);
  return answer && answer->failure ? *answer->failure : AgentFailure{};
}

TEST(MemoryAgent, TheCommandLineIsolatesItAndResumesOnlyWhenAsked) {
  host::AgentRun run{"small", "You keep a memory.", "", 500, "/home/dev/agent"};
  const auto has = [](const std::vector<std::string>& list, const std::vector<std::string>& part) {
    return std::search(list.begin(), list.end(), part.begin(), part.end()) != list.end();
  };
  auto arguments = claude_cli().arguments(run);
  EXPECT_TRUE(has(arguments, {"--tools", ""}));
  EXPECT_TRUE(has(arguments, {"--setting-sources", ""}));
  EXPECT_TRUE(has(arguments, {"--settings", R"({"disableAllHooks":true})"}));
  EXPECT_TRUE(has(arguments, {"--strict-mcp-config"}));
  EXPECT_FALSE(has(arguments, {"--resume"}));
  run.resume = "11111111-1111-4111-8111-111111111111";
  EXPECT_TRUE(has(claude_cli().arguments(run), {"--resume", run.resume}));
  const auto environment = claude_cli().environment(run);
  for (const char* one : {"CAIRN_AGENT=1", "CAIRN_DISABLE=1", "MAX_THINKING_TOKENS=0",
                          "CLAUDE_CODE_MAX_OUTPUT_TOKENS=500", "TMPDIR=/home/dev/agent/tmp"})
    EXPECT_TRUE(has(environment, {one})) << one;
}

TEST(MemoryAgent, APromptThatBeginsWithASlashIsNoCommand) {
  const auto content = [](std::string_view text) {
    return std::string((*Json::parse(claude_cli().prompt_line(text)))["message"]["content"].as_string());
  };
  EXPECT_EQ(content("/compact"), "Text: /compact");
  EXPECT_EQ(content(" \n/compact"), "Text:  \n/compact");
  EXPECT_EQ(content("a /compact\nb"), "a /compact\nb");
  EXPECT_EQ(claude_cli().prompt_line("two\nlines").find('\n'), std::string::npos) << "one line";
}

TEST(MemoryAgent, TokensAndPriceOfATurnAreTheDifferenceOfTheTotals) {
  const auto output = claude_cli().output();
  const auto total = [](int in, int out, int cached, double cost) {
    return Json::object(
               {{"type", "result"},
                {"is_error", false},
                {"total_cost_usd", cost},
                {"session_id", "s-1"},
                {"modelUsage", Json::object({{"small", Json::object({{"inputTokens", in},
                                                                     {"outputTokens", out},
                                                                     {"cacheReadInputTokens", cached}})}})}})
        .dump();
  };
  ASSERT_TRUE(output->read(total(100, 10, 0, 0.25)));
  const auto second = output->read(total(150, 30, 400, 0.75));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->input_tokens, 450);
  EXPECT_EQ(second->cached_tokens, 400);
  EXPECT_EQ(second->output_tokens, 20);
  EXPECT_EQ(second->cost_usd, 0.5);
  EXPECT_EQ(output->conversation(), "s-1");
}

TEST(MemoryAgent, IsErrorMarksAnErrorAndWordsOrStatusItsClass) {
  const auto status = [](int number) { return Json::object({{"api_error_status", number}}); };
  EXPECT_EQ(failure_of("API Error: Request rejected (429)", status(429)).kind,
            AgentFailure::Kind::rate_limited);
  EXPECT_EQ(failure_of("API Error: Overloaded", status(529)).kind, AgentFailure::Kind::transient);
  EXPECT_EQ(failure_of("API Error: bad request", status(400)).kind, AgentFailure::Kind::rejected);
  EXPECT_EQ(failure_of("Invalid API key · Fix external API key", status(401)).kind, AgentFailure::Kind::auth);
  EXPECT_EQ(failure_of("Not logged in · Please run /login").kind, AgentFailure::Kind::auth);
  EXPECT_EQ(failure_of("Credit balance is too low", status(400)).kind, AgentFailure::Kind::quota);
  const AgentFailure limit = failure_of("Claude AI usage limit reached|1790000000");
  EXPECT_EQ(limit.kind, AgentFailure::Kind::quota);
  EXPECT_EQ(limit.until, from_epoch_ms(1'790'000'000'000));
  EXPECT_FALSE(failure_of("You've hit your limit · resets 3pm").until);
  EXPECT_EQ(
      failure_of("", Json::object({{"subtype", "error_during_execution"},
                                   {"errors", Json::array({"No conversation found with session ID: x"})}}))
          .kind,
      AgentFailure::Kind::gone);
}

TEST(MemoryAgent, LinesThatAreNoneOfItsOwnAreIgnored) {
  const auto output = claude_cli().output();
  for (const char* line : {"", "not json", "[]", "7", R"({"type":"result"})", R"({"type":["x"]})",
                           R"({"type":"stream_event","event":{"type":"message_delta"}})",
                           R"({"type":"assistant","message":{"content":"text"}})"})
    if (const auto answer = output->read(line)) {
      EXPECT_TRUE(answer->text.empty()) << line;
    }
}

TEST(EventStream, GivesTheSameEventsWhereverItsBytesAreSplit) {
  const std::string text =
      "event: a\ndata: one\n\n: comment\n\ndata:two\r\ndata: lines\r\n\r\nid: 7\n\ndata: \n\ndata: "
      "last\n\ndata: cut";
  const std::vector<std::string> expected = {"one", "two\nlines", "", "last"};
  for (std::size_t at = 0; at <= text.size(); ++at) {
    agent::EventStream stream;
    auto events = stream.add(std::string_view(text).substr(0, at));
    for (std::string& event : stream.add(std::string_view(text).substr(at)))
      events.push_back(std::move(event));
    EXPECT_EQ(events, expected) << at;
  }
}

}  // namespace
}  // namespace cairn::test
