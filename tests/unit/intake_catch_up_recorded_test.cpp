// Real sessions without some of their hooks: the missing events are recovered from the transcripts, once.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>

#include "host/transcript.h"
#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const std::string kScenarios = std::string(CAIRN_TESTS_DIR) + "/recorded/";

bool is_tool_hook(const RecordedCall& call) {
  return call.call.event == "PostToolUse" || call.call.event == "PostToolUseFailure" ||
         call.call.event == "PreToolUse";
}

// A machine on which one recorded scenario takes place, at its recorded times.
struct Replay {
  Machine m;
  std::vector<RecordedCall> calls;
  std::string main;  // the first session's transcript

  explicit Replay(const std::string& scenario) : calls(recorded_calls(scenario)) {
    if (!calls.empty()) m.clock.set_wall(*parse_iso8601(calls.front().at) - Millis(1));
    must(m.open());
    for (const auto& entry : fs::directory_iterator(kScenarios + scenario)) put(entry.path());
  }

  // Transcripts are at the paths that the hooks reported.
  void put(const fs::path& file) {
    const std::string name = file.filename().string();
    if (name.find("transcript") == std::string::npos) return;
    const std::string text = read_text(file.string());
    const std::string session = text.substr(text.find("\"sessionId\":\"") + 13, 36);
    for (const RecordedCall& call : calls) {
      if (call.call.payload["session_id"].as_string() != session) continue;
      std::string path(call.call.payload["transcript_path"].as_string());
      if (name == "agent_transcript.jsonl")
        path = path.substr(0, path.size() - 6) + "/subagents/agent-a38e5792bf742aada.jsonl";
      must(os::make_dirs(m.disk, path.substr(0, path.rfind('/'))));
      m.put_file(path, text);
      return;
    }
  }

  void play(const std::function<bool(const RecordedCall&)>& wanted) {
    for (const RecordedCall& call : calls) {
      if (!wanted(call)) continue;
      m.clock.set_wall(*parse_iso8601(call.at));
      m.project_dir = call.project_dir;
      m.deliver(call.call);
    }
    must(m.drain());
  }
  // The host is gone, and the daemon has had its time.
  void end_host() {
    m.processes.kill(m.host.pid);
    m.clock.advance(std::chrono::minutes(2));
    must(m.engine->tick());
    must(m.drain());
  }
  Lines ends() {
    return m.rows(
        "SELECT session_db_id, tool_use_id FROM events WHERE outcome = 'stored' AND kind IN ('tool', "
        "'tool_failure') "
        "ORDER BY 1, 2");
  }
  std::int64_t gap() { return must(m.run("status"))["ledger"]["gap"].as_int(-1); }
  std::int64_t recovered() { return must(m.run("status"))["ledger"]["recovered"].as_int(-1); }
};

std::set<std::string> told_by_hooks(const std::vector<RecordedCall>& calls) {
  std::set<std::string> ids;
  for (const RecordedCall& call : calls)
    if (call.call.event.starts_with("PostToolUse")) ids.emplace(call.call.payload["tool_use_id"].as_string());
  return ids;
}

// Those whose transcripts were recorded too.
std::vector<std::string> with_transcripts() {
  std::vector<std::string> names;
  for (const std::string& name : recorded_scenarios())
    if (fs::exists(kScenarios + name + "/transcript.jsonl")) names.push_back(name);
  return names;
}

class RecordedTranscripts : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedTranscripts, WithEveryHookAddOnlyWhatNoHookDelivers) {
  Replay replay(GetParam());
  replay.play([](const auto&) { return true; });
  replay.end_host();
  EXPECT_EQ(replay.gap(), 0);
  const std::set<std::string> told = told_by_hooks(replay.calls);
  for (const std::string& id : replay.m.rows("SELECT tool_use_id FROM events WHERE source = 'transcript' AND "
                                             "outcome = 'stored' AND tool_use_id IS NOT NULL"))
    EXPECT_FALSE(told.contains(id)) << id;
  EXPECT_EQ(replay.m.number("SELECT count(*) FROM events WHERE source = 'transcript' AND kind = 'prompt'"),
            0);
}

TEST_P(RecordedTranscripts, WithoutAnyToolHookGiveTheSameCallsOnce) {
  Replay whole(GetParam());
  whole.play([](const auto&) { return true; });
  whole.end_host();
  const Lines expected = whole.ends();

  Replay replay(GetParam());
  replay.play([](const auto& call) { return !is_tool_hook(call); });
  replay.end_host();
  EXPECT_EQ(replay.gap(), 0);
  EXPECT_EQ(replay.ends(), expected);
  const std::int64_t recovered = replay.recovered();

  must(replay.m.open());  // a restart, and the transcripts read from the start
  must(replay.m.db().exec("UPDATE transcripts SET read_to = 0; UPDATE sdk_sessions SET transcript_due = 1"));
  replay.end_host();
  EXPECT_EQ(replay.ends(), expected);
  EXPECT_EQ(replay.recovered(), recovered);

  replay.play([](const auto& call) { return call.call.event.starts_with("PostToolUse"); });  // they come late
  EXPECT_EQ(replay.ends(), expected);
  const auto late = static_cast<std::int64_t>(told_by_hooks(replay.calls).size());
  EXPECT_EQ(
      replay.m.number("SELECT count(*) FROM events WHERE outcome = 'duplicate' AND reason = 'same tool use'"),
      late);
  EXPECT_EQ(replay.gap(), 0);
}

TEST_P(RecordedTranscripts, WithHooksMissingAtRandomGiveWhatIsMissing) {
  Replay whole(GetParam());
  whole.play([](const auto&) { return true; });
  whole.end_host();
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Replay replay(GetParam());
    unsigned state = seed * 2654435761u;
    replay.play([&](const auto& call) {
      state = state * 1664525u + 1013904223u;
      return !is_tool_hook(call) || (state >> 30) != 0;
    });
    replay.end_host();
    EXPECT_EQ(replay.ends(), whole.ends()) << seed;
    EXPECT_EQ(replay.gap(), 0) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, RecordedTranscripts, ::testing::ValuesIn(with_transcripts()),
                         [](const auto& which) { return which.param; });

TEST(RecordedTranscript, OfAForkBelongsToItsParentAsFarAsItIsACopy) {
  Replay replay("b_resume");
  replay.play([](const auto& call) { return !is_tool_hook(call); });
  replay.end_host();
  EXPECT_EQ(replay.ends().size(), 1u);
  EXPECT_EQ(replay.m.rows("SELECT s.content_session_id, c.outcome, c.reason FROM transcript_calls c JOIN "
                          "sdk_sessions s ON s.id = "
                          "c.session_db_id ORDER BY 1"),
            (Lines{"5e7c52da-cab6-4310-9079-6426b048eb42|counted|of the session this one was forked from",
                   "8c934a71-acff-4d6d-ad47-18e3d9650770|recovered|-"}));
  EXPECT_EQ(replay.m.text("SELECT group_concat(prompt_text) FROM user_prompts p JOIN sdk_sessions s ON s.id "
                          "= p.session_db_id WHERE "
                          "s.content_session_id LIKE '5e7c52da%'"),
            "four (fork)");
}

TEST(RecordedTranscript, OfASubagentIsReadBesideTheMainOne) {
  Replay replay("d_subagent");
  replay.play([](const auto& call) { return !is_tool_hook(call); });
  replay.end_host();
  EXPECT_EQ(
      replay.m.rows(
          "SELECT tool_name, agent_id FROM events WHERE source = 'transcript' AND kind = 'tool' ORDER BY 1"),
      (Lines{"Agent|-", "Bash|a38e5792bf742aada"}));
}

TEST(RecordedTranscript, OfATurnWithOnlyTheFirstHookGivesPromptWorkAndAnswer) {
  Replay replay("a_oneshot_tools");
  replay.play([](const auto& call) { return call.call.event == "SessionStart"; });
  replay.end_host();
  EXPECT_EQ(replay.m.rows("SELECT prompt_number, end_reason FROM turns"), (Lines{"1|stop"}));
  EXPECT_EQ(replay.m.text("SELECT status FROM sdk_sessions"), "completed");
  EXPECT_EQ(replay.m.number("SELECT count(*) FROM user_prompts"), 1);
  EXPECT_NE(replay.m.text("SELECT completed FROM session_summaries").find("a.txt"), std::string::npos);
  EXPECT_EQ(replay.gap(), 0);
}

}  // namespace
}  // namespace cairn::test
