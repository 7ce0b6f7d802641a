// Recorded events of the other coding agents, through the engine: what is stored, and what the next session
// of any agent is given.
#include <gtest/gtest.h>

#include "host/host.h"
#include "store/evidence.h"
#include "support/agents.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

struct Story {
  const char* agent;
  const char* scenario;
  std::vector<std::string> skipped;  // events that we do not register for
  const char* prompt;
  std::int64_t ended, failed;  // calls that ended well, calls that failed
};

std::ostream& operator<<(std::ostream& out, const Story& story) {
  return out << story.agent << "/" << story.scenario;
}

class Agent : public testing::Test {
 protected:
  Agent() { must(m.open()); }

  // With the transcript where the host had it.
  void put_transcript(const std::string& agent, const std::string& scenario, const std::string& path) {
    must(os::make_dirs(m.disk, path.substr(0, path.rfind('/'))));
    m.put_file(path, agent_transcript(agent, scenario));
  }
  std::int64_t count(const std::string& kind) {
    return m.number("SELECT count(*) FROM events WHERE outcome = 'stored' AND kind = '" + kind + "'");
  }
  std::string next_context() {
    m.platform.clear();
    m.clock.advance(std::chrono::minutes(5));
    Chat next;
    next.session = "22222222-aaaa-4bbb-8ccc-000000000002";
    return Machine::context_of(m.ask(next.start()));
  }

  Machine m;
};

class Agents : public Agent, public testing::WithParamInterface<Story> {};

TEST_P(Agents, StoreTheirPromptCallsFailuresAndEnds) {
  const Story& story = GetParam();
  play_agent(m, story.agent, agent_calls(story.agent, story.scenario), story.skipped);
  EXPECT_EQ(m.rows("SELECT DISTINCT platform FROM sdk_sessions"), Lines{story.agent});
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts"), Lines{story.prompt});
  EXPECT_EQ(count("tool"), story.ended);
  EXPECT_EQ(count("tool_failure"), story.failed);
  EXPECT_EQ(count("stop"), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM session_summaries"), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'bad'"), 0);
}

TEST_P(Agents, EveryStartOfACallHasItsEnd) {
  const Story& story = GetParam();
  play_agent(m, story.agent, agent_calls(story.agent, story.scenario), story.skipped);
  // Codex has no event for a patch that cannot be applied: only its transcript tells.
  const std::int64_t open = std::string_view(story.agent) == "codex" ? 1 : 0;
  EXPECT_EQ(
      m.number("SELECT count(*) FROM events s WHERE s.kind = 'tool_start' AND s.outcome = 'stored' AND NOT "
               "EXISTS (SELECT 1 FROM events e WHERE e.tool_use_id = s.tool_use_id AND e.kind IN ('tool', "
               "'tool_failure'))"),
      open);
}

TEST_P(Agents, AnotherAgentsNextSessionIsGivenWhatWasDone) {
  const Story& story = GetParam();
  play_agent(m, story.agent, agent_calls(story.agent, story.scenario), story.skipped);
  const std::string context = next_context();
  if (std::string_view(story.prompt) == "hi") return;  // a greeting is nothing to tell
  EXPECT_NE(context.find(story.prompt), std::string::npos) << context;
}

const std::vector<std::string> kGeminis = {"BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress"};

INSTANTIATE_TEST_SUITE_P(
    Recorded, Agents,
    testing::Values(Story{"codex", "a_exec_tools", {}, "Please do the work", 6, 0},
                    Story{"gemini", "a_tools", kGeminis, "Please do the work", 5, 2},
                    Story{"opencode", "b_bridge_tools", {}, "Please do the work", 5, 2},
                    Story{"qwen", "a_tools", {"PostToolBatch"}, "Please do the work", 5, 2},
                    Story{"copilot", "a_PascalCase", {"PreToolUse"}, "hi", 1, 0}),
    [](const auto& story) { return std::string(story.param.agent); });

constexpr const char* kRollout =
    "/home/dev/.codex/sessions/2026/11/16/"
    "rollout-2026-11-16T16-14-55-01a1e523-dc72-7872-8ea3-c66287ffb129.jsonl";

TEST_F(Agent, CodexTakesExitCodesFromTheTranscript) {
  put_transcript("codex", "a_exec_tools", kRollout);
  play_agent(m, "codex", agent_calls("codex", "a_exec_tools"));
  EXPECT_EQ(m.rows("SELECT kind FROM events WHERE tool_use_id = 'call_9795340bde58a548' ORDER BY seq"),
            (Lines{"tool_start", "tool_failure"}));
  const auto events = must(store::turn_events(m.db(), SessionId{1}, 1));
  const auto failed = std::find_if(events.begin(), events.end(), [](const store::KeptEvent& event) {
    return event.kind == event::Kind::tool_failure && event.tool_use_id == "call_9795340bde58a548";
  });
  ASSERT_NE(failed, events.end());
  EXPECT_NE(failed->texts.response.value_or("").find("xit code 3"), std::string::npos);
  EXPECT_NE(failed->texts.response.value_or("").find("oops"), std::string::npos);
}

TEST_F(Agent, CodexCorrectsAnExitCodeThatWasNotWrittenYet) {
  play_agent(m, "codex", agent_calls("codex", "a_exec_tools"));
  EXPECT_EQ(m.rows("SELECT kind FROM events WHERE tool_use_id = 'call_9795340bde58a548' ORDER BY seq"),
            (Lines{"tool_start", "tool"}));
  put_transcript("codex", "a_exec_tools", kRollout);
  m.processes.kill(m.host.pid);
  m.clock.advance(std::chrono::minutes(2));
  must(m.engine->tick());
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT kind FROM events WHERE tool_use_id = 'call_9795340bde58a548' ORDER BY seq"),
            (Lines{"tool_start", "tool_failure"}));
  // The patch that could not be applied, and the tool that does not exist.
  EXPECT_EQ(
      m.text("SELECT kind FROM events WHERE tool_use_id = 'call_26a0f445f210c522' AND source = 'transcript'"),
      "tool_failure");
  EXPECT_EQ(m.text("SELECT reason FROM transcript_calls WHERE tool_use_id = 'call_d42b06bc68121641'"),
            "the host has no such tool");
  EXPECT_EQ(must(m.run("status"))["ledger"]["gap"].as_int(-1), 0);
  const std::string summary = m.text("SELECT summary_text FROM session_summaries");
  EXPECT_NE(summary.find("exit code 3"), std::string::npos) << summary;
}

TEST_F(Agent, CodexPatchesNameTheFilesThatTheyChange) {
  play_agent(m, "codex", agent_calls("codex", "a_exec_tools"));
  EXPECT_NE(m.text("SELECT files_edited FROM session_summaries").find("a.txt"), std::string::npos);
}

TEST_F(Agent, CodexSubagentsPromptIsNotTheUsers) {
  play_agent(m, "codex", agent_calls("codex", "d_subagent"));
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts"), Lines{"spawn a helper"});
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 1);
  EXPECT_NE(m.text("SELECT transcript_path FROM sdk_sessions").find("01a1e52a-94fd"), std::string::npos);
}

TEST_F(Agent, CodexSharedDaemonSaysNothingAboutTheProject) {
  // The daemon's environment is that of the terminal which started it first.
  m.project_dir = "/home/dev/elsewhere";
  play_agent(m, "codex", agent_calls("codex", "c_tui_daemon"));
  EXPECT_EQ(m.rows("SELECT DISTINCT project FROM sdk_sessions"), Lines{"proj"});
  // A session that ends without a SessionEnd keeps its turns.
  EXPECT_GT(m.number("SELECT count(*) FROM session_summaries"), 0);
}

TEST_F(Agent, QwenRepeatedAndEmptyPromptsAreCountedNotStored) {
  play_agent(m, "qwen", agent_calls("qwen", "a_tools"), {"PostToolBatch"});
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 1);
  EXPECT_GT(
      m.number("SELECT count(*) FROM events WHERE outcome = 'skipped' AND reason = 'repeats a prompt before "
               "a model request'"),
      5);
}

TEST_F(Agent, QwenIsAnsweredOnlyForThePromptThatTheUserSubmitted) {
  m.platform = "qwen";
  for (const RecordedCall& call : agent_calls("qwen", "a_tools")) {
    if (call.call.event != "UserPromptSubmit" || call.call.payload.has("submitted_prompt")) continue;
    EXPECT_EQ(Machine::context_of(m.ask(call.call)), "");
    break;
  }
}

TEST_F(Agent, GeminisPromptIsStoredWithoutOurOwnBlock) {
  play_agent(m, "gemini", agent_calls("gemini", "a_context_injected"), kGeminis);
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts"), Lines{"hi"});
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE outcome = 'stored' AND kind = 'stop'"), 1);
}

TEST_F(Agent, GeminiReportsAnEndThreeTimesAndItIsStoredOnce) {
  play_agent(m, "gemini", agent_calls("gemini", "c_tui"), kGeminis);
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions WHERE status = 'active'"), 0);
  EXPECT_EQ(
      m.number(
          "SELECT max(n) FROM (SELECT count(*) AS n FROM events WHERE kind = 'session_end' AND outcome = "
          "'stored' GROUP BY session_db_id)"),
      1);
}

TEST_F(Agent, GeminiGetsTheContextOfAClearedSessionWithItsPrompt) {
  play_agent(m, "gemini", agent_calls("gemini", "a_tools"), kGeminis);
  m.clock.advance(std::chrono::minutes(5));
  const auto call = [](std::string event, std::initializer_list<Json::Member> members) {
    HookCall made{std::move(event), Json::object({{"session_id", "0b5d6c1e-0000-4000-8000-000000000009"},
                                                  {"cwd", "/home/dev/code/proj"}})};
    for (const Json::Member& member : members) made.payload.set(member.first, member.second);
    return made;
  };
  EXPECT_EQ(Machine::context_of(m.ask(call("SessionStart", {{"source", "clear"}}))), "");
  m.clock.advance(std::chrono::seconds(1));
  EXPECT_NE(m.ask(call("BeforeAgent", {{"prompt", "go on"}})).line.find("Please do the work"),
            std::string::npos);
}

TEST_F(Agent, TheSameCommandTwiceIsTwoCallsWithoutIds) {
  m.platform = "gemini";
  const auto tool = [](std::string event, std::string_view time) {
    return HookCall{std::move(event),
                    Json::object({{"session_id", "0b5d6c1e-0000-4000-8000-000000000009"},
                                  {"cwd", "/home/dev/code/proj"},
                                  {"timestamp", time},
                                  {"tool_name", "run_shell_command"},
                                  {"tool_input", Json::object({{"command", "make"}})},
                                  {"tool_response", Json::object({{"returnDisplay", "ok"}})}})};
  };
  for (const char* second : {"01", "02"}) {
    const std::string at = std::string("2026-11-16T16:40:") + second;
    m.tell(tool("BeforeTool", at + ".000Z"));
    m.tell(tool("AfterTool", at + ".500Z"));
    m.tell(tool("AfterTool", at + ".500Z"));  // delivered twice: registered twice
  }
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE kind = 'tool' AND outcome = 'stored'"), 2);
  EXPECT_EQ(m.number("SELECT count(DISTINCT tool_use_id) FROM events WHERE outcome = 'stored'"), 2);
}

TEST_F(Agent, CopilotsSubagentBelongsToItsParent) {
  play_agent(m, "copilot", agent_calls("copilot", "d_subagent"), {"PreToolUse"});
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 1);
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts"), Lines{"spawn"});
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE kind = 'stop' AND outcome = 'stored'"), 1);
}

TEST_F(Agent, CopilotsAnswerComesFromItsTranscript) {
  const auto calls = agent_calls("copilot", "a_PascalCase");
  for (const RecordedCall& call : calls)
    if (call.call.event == "Stop")
      put_transcript("copilot", "a_tools", std::string(call.call.payload["transcript_path"].as_string()));
  play_agent(m, "copilot", calls, {"PreToolUse"});
  EXPECT_EQ(m.text("SELECT last_assistant_message FROM pending_messages WHERE message_type = 'summarize'"),
            "All done. FINAL.");
}

TEST_F(Agent, OpenCodesSubagentBelongsToItsParent) {
  play_agent(m, "opencode", agent_calls("opencode", "d_bridge_subagent"));
  EXPECT_EQ(m.number("SELECT count(*) FROM sdk_sessions"), 1);
  EXPECT_EQ(m.number("SELECT count(*) FROM user_prompts"), 1);
}

TEST_F(Agent, CursorsPayloadThroughAnothersSettingsIsCursors) {
  const auto call = [](std::string event, std::initializer_list<Json::Member> members) {
    HookCall made{std::move(event),
                  Json::object({{"conversation_id", "c1"},
                                {"session_id", "0b5d6c1e-0000-4000-8000-00000000000c"},
                                {"cursor_version", "2.1"},
                                {"workspace_roots", Json::array({Json("/home/dev/code/proj")})}})};
    for (const Json::Member& member : members) made.payload.set(member.first, member.second);
    return made;
  };
  play_agent(m, "codex", agent_calls("codex", "a_exec_tools"));
  m.platform.clear();  // as the first host's hook is registered
  m.clock.advance(std::chrono::minutes(5));
  const Json answer = must(Json::parse(m.ask(call("SessionStart", {})).line));
  EXPECT_NE(std::string(answer["additional_context"].as_string()).find("Please do the work"),
            std::string::npos);
  EXPECT_FALSE(answer.has("continue"));
  m.tell(call("UserPromptSubmit", {{"prompt", "hello"}}));
  m.tell(call("PostToolUse", {{"tool_name", "Shell"},
                              {"tool_use_id", "t1"},
                              {"tool_input", Json::object({{"command", "make"}})},
                              {"tool_output", "ok"}}));
  EXPECT_EQ(m.rows("SELECT platform, project FROM sdk_sessions ORDER BY id"),
            (Lines{"codex|proj", "cursor|proj"}));
}

TEST_F(Agent, ErrorsOfTheModelsServiceLeaveTheTurnUnanswered) {
  play_agent(m, "codex", agent_calls("codex", "g_api_error_500"));
  EXPECT_EQ(m.rows("SELECT status FROM sdk_sessions"), Lines{"failed"});
}

}  // namespace
}  // namespace cairn::test
