// Recorded sessions of the real host in, summaries out, word for word.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "distil/turn.h"

namespace cairn::distil {
namespace {

using Files = std::vector<std::string>;

std::string recorded(const std::string& scenario) {
  std::ifstream file(std::string(CAIRN_TESTS_DIR) + "/recorded/" + scenario + "/hooks.jsonl");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first turn of a recording, as the intake would put it together.
class Reading {
 public:
  Turn turn(const std::string& scenario) {
    turn_.root = "/home/dev/code/proj";
    turn_.end = Turn::End::cut_off;
    const std::string text = recorded(scenario);
    EXPECT_FALSE(text.empty()) << scenario;
    for (const std::string_view line : lines(text)) {
      const Json entry = *Json::parse(line);
      const std::string_view event = entry["event"].as_string();
      const Json& payload = entry["stdin"];
      if (event == "UserPromptSubmit") turn_.prompt = payload["prompt"].as_string();
      if (event == "PreToolUse" || event == "PostToolUse" || event == "PostToolUseFailure")
        tool(event, payload);
      if (event != "Stop" && event != "StopFailure") continue;
      turn_.end = event == "Stop" ? Turn::End::stopped : Turn::End::failed;
      turn_.failure = payload["error"].as_string();
      turn_.last_answer = payload["last_assistant_message"].as_string();
      break;
    }
    return turn_;
  }

 private:
  void tool(std::string_view event, const Json& payload) {
    const std::string id(payload["tool_use_id"].as_string());
    if (!places_.contains(id)) {
      places_[id] = turn_.steps.size();
      turn_.steps.emplace_back();
    }
    Step& step = turn_.steps[places_[id]];
    step.tool = payload["tool_name"].as_string();
    step.input = payload["tool_input"];
    step.response = payload["tool_response"];
    step.error = payload["error"].as_string();
    step.agent_type = payload["agent_type"].as_string();
    step.outcome = event == "PreToolUse"    ? Step::Outcome::interrupted
                   : event == "PostToolUse" ? Step::Outcome::ok
                                            : Step::Outcome::failed;
  }

  Turn turn_;
  std::map<std::string, std::size_t> places_;
};

Summary summary_of(const std::string& scenario) {
  const Turn turn = Reading().turn(scenario);
  const Summary summary = distil(turn).summary;
  EXPECT_EQ(distil(turn).summary, summary);
  return summary;
}

TEST(DistilGolden, OneShotWithEveryKindOfTool) {
  const Summary s = summary_of("a_oneshot_tools");
  EXPECT_EQ(s.request, "Please do the work");
  EXPECT_EQ(s.completed,
            "Created a.txt (3 lines), then edited it (+1 -1). Ran \"List\". Ran \"Fail\": failed (exit code "
            "3: [output: oops]). "
            "Ran \"cd\".\n\n"
            "All done. Final answer with unicode: \xc3\xa9 \xe2\x9c\x93");
  EXPECT_EQ(s.investigated, "Could not read missing.txt: File does not exist.");
  EXPECT_EQ(s.next_steps, "'echo oops >&2; exit 3' still fails: [output: oops]");
  EXPECT_EQ(s.learned, "");
  EXPECT_EQ(s.notes, "");
  EXPECT_EQ(s.files_read, (Files{"a.txt"}));
  EXPECT_EQ(s.files_edited, (Files{"a.txt"}));
}

TEST(DistilGolden, TaskToolsFoldedById) {
  const Summary s = summary_of("a2_tasktools");
  EXPECT_EQ(s.completed,
            "Started \"bg\" in the background. Ran 'echo p1'. Ran \"big output\". Finished: do "
            "x.\n\nDone a2.");
  EXPECT_EQ(
      s.investigated,
      "Read CLAUDE.md. Could not fetch http://127.0.0.1:1/x: [web: Unable to verify if domain 127.0.0.1 is "
      "safe to fetch].");
  EXPECT_EQ(s.next_steps, "");
  EXPECT_EQ(s.files_read, (Files{"CLAUDE.md"}));
  EXPECT_EQ(s.files_edited, Files{});
}

TEST(DistilGolden, OpenTodosAreNextSteps) {
  const Summary s = summary_of("a3_todowrite");
  EXPECT_EQ(s.completed, "Started \"bg\" in the background. Ran \"big output\". Ran 'echo p1'.\n\nDone a2.");
  EXPECT_EQ(s.investigated, "Read CLAUDE.md. Searched for '*.md' and 'proj'.");
  EXPECT_EQ(s.next_steps, "Begun: do x.");
  EXPECT_EQ(s.files_read, (Files{"CLAUDE.md"}));
}

TEST(DistilGolden, SubagentIsDescribedByItsResult) {
  const Summary s = summary_of("d_subagent");
  EXPECT_EQ(s.completed, "Subagent (general-purpose) \"sub job\": Subagent result: 42.\n\nMain done.");
  EXPECT_EQ(s.notes, "1 step was done by subagents.");
  EXPECT_EQ(s.next_steps, "");
}

TEST(DistilGolden, InterruptedCallIsReported) {
  const Summary s = summary_of("c6_tui_interrupt");
  EXPECT_EQ(s.request, "run long");
  EXPECT_EQ(s.completed, "");
  EXPECT_EQ(s.next_steps, "Interrupted while running 'sleep 30'.");
  EXPECT_EQ(s.notes, "The turn was cut off.");
}

TEST(DistilGolden, HostErrorEndsTheTurn) {
  const Summary s = summary_of("h_error_429_forever");
  EXPECT_EQ(s.next_steps, "The turn ended with an error: rate_limit.");
  EXPECT_EQ(s.completed, "");
}

TEST(DistilGolden, MiscellaneousTools) {
  const Summary s = summary_of("i_misc");
  EXPECT_EQ(s.completed,
            "Ran `touch /home/dev/.claude/settings.json; sed -i 's/\"timeout\": 30/\"timeout\": 31/' "
            "/home/dev/.claude/settings.json; sleep\xe2\x80\xa6`. Used EnterWorktree, ExitWorktree and "
            "mcp__elicit__ask.\n\nmisc done");
  EXPECT_EQ(s.investigated, "Read sub/x.txt.");
  EXPECT_EQ(s.files_edited, (Files{"/home/dev/.claude/settings.json"}));
}

}  // namespace
}  // namespace cairn::distil
