#include "support/events.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/hash.h"
#include "base/text.h"
#include "support/engine_fixture.h"
#include "support/temp_dir.h"

namespace cairn::test {

HookCall Chat::call(std::string_view event, std::initializer_list<Json::Member> members) const {
  Json payload = Json::object({{"session_id", session},
                               {"transcript_path", "/home/dev/.claude/projects/-proj/" + session + ".jsonl"},
                               {"cwd", cwd}});
  if (!prompt_id.empty()) payload.set("prompt_id", prompt_id);
  payload.set("hook_event_name", event);
  for (const Json::Member& member : members) payload.set(member.first, member.second);
  return {std::string(event), std::move(payload)};
}

HookCall Chat::start(std::string_view source) const {
  return call("SessionStart", {{"source", source}});
}

HookCall Chat::prompt(std::string_view text, std::string_view id) {
  prompt_id = id.empty() ? "prompt-" + content_hash(text).substr(0, 8) : std::string(id);
  return call("UserPromptSubmit", {{"permission_mode", "default"}, {"prompt", text}});
}

HookCall Chat::before_tool(std::string_view name, std::string_view use, Json input) const {
  return call("PreToolUse", {{"tool_name", name}, {"tool_input", std::move(input)}, {"tool_use_id", use}});
}

HookCall Chat::tool(std::string_view name, std::string_view use, Json input, Json response) const {
  return call("PostToolUse", {{"tool_name", name},
                              {"tool_input", std::move(input)},
                              {"tool_response", std::move(response)},
                              {"tool_use_id", use},
                              {"duration_ms", 18}});
}

HookCall Chat::tool_failure(std::string_view name, std::string_view use, Json input,
                            std::string_view error) const {
  return call("PostToolUseFailure", {{"tool_name", name},
                                     {"tool_input", std::move(input)},
                                     {"tool_use_id", use},
                                     {"error", error},
                                     {"is_interrupt", false}});
}

HookCall Chat::wrote(std::string_view file, std::string_view use) const {
  const std::string path = cwd + "/" + std::string(file);
  return tool("Write", use, Json::object({{"file_path", path}, {"content", "alpha\nbeta\n"}}),
              Json::object({{"type", "create"}, {"filePath", path}, {"content", "alpha\nbeta\n"}}));
}

HookCall Chat::ran(std::string_view command, std::string_view use) const {
  return tool("Bash", use, Json::object({{"command", command}}),
              Json::object({{"stdout", "fine"}, {"stderr", ""}, {"interrupted", false}}));
}

HookCall Chat::stop(std::string_view last_message) const {
  return call("Stop", {{"stop_hook_active", false}, {"last_assistant_message", last_message}});
}

HookCall Chat::stop_failure(std::string_view error) const {
  return call("StopFailure", {{"error", error}, {"last_assistant_message", "API Error: rejected"}});
}

HookCall Chat::end(std::string_view reason) const {
  return call("SessionEnd", {{"reason", reason}});
}

static std::string recorded_dir() {
  return std::string(CAIRN_RECORDED_DIR);
}

WallTime time_of(const RecordedCall& recorded) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0;
  const int read = std::sscanf(recorded.at.c_str(), "%d-%d-%dT%d:%d:%d.%dZ", &year, &month, &day, &hour,
                               &minute, &second, &ms);
  if (read != 7) end_with({Code::invalid, "not a time: " + recorded.at});
  const std::chrono::sys_days date = std::chrono::year(year) / month / day;
  return WallTime(date.time_since_epoch()) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + Millis(ms);
}

std::vector<RecordedCall> recorded_calls(const std::string& scenario) {
  std::vector<RecordedCall> calls;
  const std::string text = read_text(recorded_dir() + "/" + scenario + "/hooks.jsonl");
  for (const std::string_view line : lines(text)) {
    if (trim(line).empty()) continue;
    const Json entry = must(Json::parse(line));
    calls.push_back({{std::string(entry["event"].as_string()), entry["stdin"]},
                     std::string(entry["ts"].as_string()),
                     std::string(entry["env"]["CLAUDE_PROJECT_DIR"].as_string())});
  }
  return calls;
}

std::vector<std::string> recorded_scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(recorded_dir()))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cairn::test
