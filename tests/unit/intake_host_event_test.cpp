#include <gtest/gtest.h>

#include "host/host.h"
#include "support/engine_fixture.h"

namespace cairn::intake {
namespace {

using event::Kind;
using test::must;

event::Event read(std::string_view payload, std::string name = "PostToolUse", std::uint64_t head = 0) {
  hook::Envelope envelope;
  envelope.event = std::move(name);
  envelope.head_bytes = head;
  return must(host::find_host(envelope.host).read_event(EventId{"e"}, envelope, payload));
}

Error refused(std::string_view payload) {
  return host::find_host("claude-code").read_event(EventId{"e"}, hook::Envelope{}, payload).error();
}

TEST(HostEvent, ReadsAToolCall) {
  const event::Event e = read(
      R"({"session_id":"s","transcript_path":"/t","cwd":"/c","prompt_id":"p","tool_name":"Bash",
          "tool_input":{"command":"ls"},"tool_response":{"stdout":"x"},"tool_use_id":"t1","duration_ms":60})");
  EXPECT_EQ(e.kind, Kind::tool);
  EXPECT_EQ(e.session.value, "s");
  EXPECT_EQ(e.prompt_id, "p");
  EXPECT_EQ(e.tool_use_id, "t1");
  EXPECT_EQ(e.tool_response["stdout"].as_string(), "x");
  EXPECT_EQ(e.extra.dump(), R"({"duration_ms":60})");
  EXPECT_FALSE(e.incomplete);
}

TEST(HostEvent, KnowsTheOtherSpellingOfAToolsAnswer) {
  EXPECT_EQ(read(R"({"session_id":"s","tool_output":"text"})").tool_response.as_string(), "text");
  EXPECT_EQ(read(R"({"session_id":"s","tool_output":"no","tool_response":"yes"})").tool_response.as_string(),
            "yes");
}

TEST(HostEvent, ReadsTheReasonUnderEveryNameItHas) {
  EXPECT_EQ(read(R"({"session_id":"s","source":"clear"})", "SessionStart").reason, "clear");
  EXPECT_EQ(read(R"({"session_id":"s","reason":"logout"})", "SessionEnd").reason, "logout");
  EXPECT_EQ(read(R"({"session_id":"s","stop_reason":"end_turn"})", "Stop").reason, "end_turn");
  EXPECT_EQ(read(R"({"session_id":"s","trigger":"auto"})", "PreCompact").reason, "auto");
}

TEST(HostEvent, TheCommandLinesNameCountsAndThePayloadsIsTheFallback) {
  EXPECT_EQ(read(R"({"session_id":"s","hook_event_name":"Stop"})", "SessionEnd").name, "SessionEnd");
  EXPECT_EQ(read(R"({"session_id":"s","hook_event_name":"Stop"})", "").kind, Kind::stop);
  EXPECT_EQ(read(R"({"session_id":"s"})", "").name, "unknown");
}

TEST(HostEvent, AnInterruptIsSeenWhereverItIsSaid) {
  EXPECT_TRUE(read(R"({"session_id":"s","is_interrupt":true})", "PostToolUseFailure").interrupted);
  EXPECT_TRUE(read(R"({"session_id":"s","tool_response":{"interrupted":true}})").interrupted);
  EXPECT_FALSE(read(R"({"session_id":"s","is_interrupt":"yes"})").interrupted);
}

TEST(HostEvent, MembersOfAWrongTypeCountAsAbsent) {
  const event::Event e = read(
      R"({"session_id":"s","cwd":7,"prompt_id":{},"tool_name":[],"tool_use_id":null,"prompt":false,"error":{"a":1}})");
  EXPECT_EQ(e.cwd, "");
  EXPECT_EQ(e.prompt_id, std::nullopt);
  EXPECT_EQ(e.tool_name, std::nullopt);
  EXPECT_EQ(e.tool_use_id, std::nullopt);
  EXPECT_EQ(e.error, R"({"a":1})");
}

TEST(HostEvent, ABrokenPayloadGivesWhatWasReadable) {
  const event::Event e = read(R"({"session_id":"s","tool_name":"Bash","tool_input":{"command":"ma)");
  EXPECT_TRUE(e.incomplete);
  EXPECT_EQ(e.tool_name, "Bash");
}

TEST(HostEvent, ACutPayloadTakesItsToolUseFromTheTail) {
  const std::string head = R"({"session_id":"s","tool_name":"Write","tool_input":{"content":"aaaa)";
  const std::string tail = R"(aaaa"},"tool_use_id":"toolu_9","duration_ms":5})";
  const event::Event e = read(head + tail, "PostToolUse", head.size());
  EXPECT_TRUE(e.cut);
  EXPECT_EQ(e.tool_use_id, "toolu_9");
  EXPECT_EQ(e.tool_name, "Write");
}

TEST(HostEvent, WithoutASessionItIsRefusedAndSaysWhy) {
  EXPECT_EQ(refused("").message, "empty payload");
  EXPECT_EQ(refused(" \n").message, "empty payload");
  EXPECT_EQ(refused("not json").message, "payload is not JSON");
  EXPECT_EQ(refused("{}").message, "payload has no session_id");
  EXPECT_EQ(refused(R"({"session_id":""})").code, Code::invalid);
  EXPECT_EQ(refused(R"({"session_id":12})").code, Code::invalid);
  EXPECT_EQ(refused("[1,2]").code, Code::invalid);
}

TEST(HostEvent, OnlyATaskNotificationIsNotTheUser) {
  EXPECT_TRUE(
      read(R"({"session_id":"s","prompt":"\n<task-notification> x"})", "UserPromptSubmit").synthetic_prompt);
  EXPECT_FALSE(read(R"({"session_id":"s","prompt":"what is <task-notification>?"})", "UserPromptSubmit")
                   .synthetic_prompt);
}

}  // namespace
}  // namespace cairn::intake
