// What another agent is given to go on with a session; and imports of other agents' transcripts.
#include <gtest/gtest.h>

#include "base/text.h"
#include "documents/handoff.h"
#include "support/agents.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Handoff : public testing::Test {
 protected:
  Handoff() {
    must(m.open());
    play_agent(m, "gemini", agent_calls("gemini", "a_tools"),
               {"BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress"});
    must(m.run("open", Json::object({{"text", "write the manual page"}, {"project", "proj"}})));
  }
  Json handoff(std::initializer_list<Json::Member> members = {}) {
    Json args = Json::object({{"project", "proj"}});
    for (const Json::Member& member : members) args.set(member.first, member.second);
    return must(m.run("handoff", args));
  }

  Machine m;
};

TEST_F(Handoff, TellsGoalStateOpenItemsFilesAndWhatFailed) {
  const Json result = handoff({{"to", "codex"}});
  const std::string text(result["text"].as_string());
  EXPECT_EQ(result["host"].as_string(), "gemini");
  for (const char* part :
       {"# Handoff to Codex", "From a session in Gemini CLI", "## Goal", "Please do the work", "## State",
        "## Open", "write the manual page", "## Files", "a.txt"})
    EXPECT_TRUE(has(text, part)) << part << " is missing in " << text;
}

TEST_F(Handoff, StaysWithinItsBudgetAndSaysWhatWasShortened) {
  for (const int budget : {200, 400, 1200}) {
    const Json result = handoff({{"budget", budget}});
    EXPECT_LE(result["tokens"].as_int(), budget);
    EXPECT_LE(estimate_tokens(result["text"].as_string()), static_cast<std::size_t>(budget));
  }
  documents::HandoffInput input;
  for (int i = 0; i < 200; ++i)
    input.material.failed.push_back("attempt " + std::to_string(i) + " did not work");
  input.material.requests = {"the goal"};
  input.max_tokens = 300;
  const documents::Handoff made = documents::handoff(input);
  EXPECT_EQ(made.shortened, Lines{"Failed approaches"});
  EXPECT_TRUE(has(made.text, "attempt 199")) << made.text;  // the newest first
  EXPECT_TRUE(has(made.text, "more: `cairn search`"));
}

TEST_F(Handoff, TakesASessionByItsNumberOrTheBeginningOfItsId) {
  const std::string id(handoff()["session"].as_string());
  for (const Json& name : {Json(1), Json("1"), Json(id), Json(id.substr(0, 6))})
    EXPECT_EQ(handoff({{"id", name}})["session"].as_string(), id) << name.dump();
  must(m.run("remember", Json::object({{"cwd", "/home/dev/code/bank"}, {"text", "theirs"}})));
  EXPECT_EQ(m.run("handoff", Json::object({{"project", "bank"}, {"id", id}})).error().code, Code::not_found);
}

TEST_F(Handoff, SaysWhichAgentsThereAre) {
  const auto refused = m.run("handoff", Json::object({{"project", "proj"}, {"to", "emacs"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(has(refused.error().message, "codex")) << refused.error().message;
  EXPECT_FALSE(m.run("handoff", Json::object({{"project", "proj"}, {"id", "nobody"}})).ok());
}

struct Import {
  const char* host;
  const char* scenario;
  const char* path;
  std::int64_t calls, failed;
};

class AgentImport : public testing::TestWithParam<Import> {};

TEST_P(AgentImport, StoresPromptCallsAndFailuresOfATranscript) {
  const Import& import = GetParam();
  Machine m;
  must(m.open());
  const std::string path = std::string("/home/dev/old/") + import.path;
  must(os::make_dirs(m.disk, path.substr(0, path.rfind('/'))));
  m.put_file(path, agent_transcript(import.host, import.scenario));
  m.clock.advance(std::chrono::hours(24 * 365));
  const Json found = must(
      m.run("import.transcripts", Json::object({{"directory", "/home/dev/old"}, {"host", import.host}})));
  EXPECT_EQ(found["found"].as_int(), 1) << found.dump();
  must(m.drain());
  EXPECT_EQ(m.rows("SELECT platform, project, imported FROM sdk_sessions"),
            Lines{std::string(import.host) + "|proj|1"});
  EXPECT_EQ(m.rows("SELECT prompt_text FROM user_prompts"), Lines{"Please do the work"});
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE kind = 'tool' AND outcome = 'stored'"), import.calls);
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE kind = 'tool_failure' AND outcome = 'stored'"),
            import.failed);
  EXPECT_EQ(m.number("SELECT count(*) FROM events WHERE kind = 'stop' AND outcome = 'stored'"), 1);
  EXPECT_NE(m.text("SELECT summary_text FROM session_summaries").find("xit code 3"), std::string::npos);
  EXPECT_EQ(m.number("SELECT count(*) FROM backups"), 1);
  // A second import finds it known.
  EXPECT_EQ(must(m.run("import.transcripts",
                       Json::object({{"directory", "/home/dev/old"}, {"host", import.host}})))["found"]
                .as_int(),
            0);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, AgentImport,
    testing::Values(
        Import{"codex", "a_exec_tools",
               "2026/11/16/rollout-2026-11-16T16-14-55-01a1e523-dc72-7872-8ea3-c66287ffb129.jsonl", 5, 2},
        Import{"gemini", "a_tools", "proj/chats/session-2026-11-16T17-27-fb0a369d.jsonl", 5, 2},
        Import{"qwen", "a_tools", "-home-dev-code-proj/chats/529a8107-5e05-4f6a-8774-f12b1c789b88.jsonl", 5,
               2},
        Import{"copilot", "a_tools", "886b8da7-d4a4-4a84-9b3f-eb5af0f2762e/events.jsonl", 5, 2}),
    [](const auto& each) { return std::string(each.param.host); });

TEST(AgentImports, AnAgentWithoutTranscriptsSaysSo) {
  Machine m;
  must(m.open());
  const auto refused = m.run("import.transcripts", Json::object({{"host", "opencode"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(has(refused.error().message, "keeps no transcripts in files"));
}

}  // namespace
}  // namespace cairn::test
