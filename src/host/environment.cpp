#include "host/environment.h"

#include <array>
#include <cstdlib>

namespace cairn::host {

namespace {

struct Variable {
  const char* name;
  std::string_view agent;
};

// Each is set to something in every command that the agent runs.
constexpr std::array kVariables = {
    Variable{"CLAUDECODE", "claude-code"}, Variable{"GEMINI_CLI", "gemini"},
    Variable{"OPENCODE", "opencode"},      Variable{"COPILOT_CLI", "copilot"},
    Variable{"QWEN_CODE", "qwen"},         Variable{"CODEX_THREAD_ID", "codex"},
    Variable{"CURSOR_AGENT", "cursor"}};

}  // namespace

std::optional<std::string_view> agent_in_environment() {
  for (const Variable& variable : kVariables)
    if (const char* value = std::getenv(variable.name); value && *value) return variable.agent;
  return std::nullopt;
}

std::optional<std::string> session_in_environment() {
  // CAIRN_SESSION_ID is ours: the start of a session sets it where the host lets hooks set variables.
  for (const char* name : {"CAIRN_SESSION_ID", "CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID",
                           "COPILOT_AGENT_SESSION_ID", "GEMINI_SESSION_ID", "QWEN_CODE_SESSION_ID"})
    if (const char* value = std::getenv(name); value && *value) return std::string(value);
  return std::nullopt;
}

bool is_agents_variable(std::string_view assignment) {
  for (const std::string_view start : {"CLAUDE", "CODEX_", "GEMINI_CLI", "GEMINI_SESSION", "GEMINI_PROJECT",
                                       "OPENCODE", "COPILOT_", "QWEN_CODE", "QWEN_PROJECT", "CURSOR_"})
    if (assignment.starts_with(start)) return true;
  return false;
}

}  // namespace cairn::host
