#include "support/agents.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"

namespace cairn::test {

static std::string recorded(const std::string& file) {
  std::ifstream in(std::string(CAIRN_RECORDED_DIR) + "_agents/" + file);
  std::stringstream text;
  text << in.rdbuf();
  if (text.str().empty()) end_with({Code::not_found, "no recording " + file});
  return text.str();
}

// OpenCode was recorded with another plugin.
static std::string current_name(const std::string& event) {
  static const std::map<std::string, std::string> names = {{"user-prompt", "chat.message"},
                                                           {"tool-before", "tool.execute.before"},
                                                           {"tool-after", "tool.execute.after"},
                                                           {"tool-failure", "tool-error"},
                                                           {"stop", "session.idle"},
                                                           {"stop-failure", "session.error"},
                                                           {"session-end", "dispose"},
                                                           {"subagent-stop", "subagent-idle"},
                                                           {"pre-compact", "experimental.session.compacting"},
                                                           {"post-compact", "session.compacted"}};
  const auto found = names.find(event);
  return found == names.end() ? event : found->second;
}

std::vector<RecordedCall> agent_calls(const std::string& agent, const std::string& scenario) {
  std::vector<RecordedCall> calls;
  const std::string text = recorded(agent + "/" + scenario + ".jsonl");
  for (const std::string_view line : lines(text)) {
    if (trim(line).empty()) continue;
    const Json entry = must(Json::parse(line));
    if (!entry["stdin"].is_object()) continue;
    std::string event(entry["event"].as_string());
    if (agent == "opencode") event = current_name(event);
    calls.push_back({{std::move(event), entry["stdin"]}, std::string(entry["ts"].as_string()), ""});
  }
  return calls;
}

std::string agent_transcript(const std::string& agent, const std::string& scenario) {
  return recorded(agent + "/" + scenario + ".transcript.jsonl");
}

void play_agent(Machine& m, const std::string& agent, const std::vector<RecordedCall>& calls,
                const std::vector<std::string>& skipped) {
  m.platform = agent;
  for (const RecordedCall& call : calls) {
    if (std::find(skipped.begin(), skipped.end(), call.call.event) != skipped.end()) continue;
    m.clock.set_wall(time_of(call));
    m.deliver(call.call);
  }
  must(m.drain());
}

}  // namespace cairn::test
