#include "host/claude_code/tools.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "host/own.h"

namespace cairn::host::claude {

using Verb = Action::Verb;

static Verb verb_of(std::string_view tool) {
  static constexpr std::array<std::pair<std::string_view, Verb>, 32> kTools = {{
      {"Bash", Verb::run},
      {"Write", Verb::write},
      {"Edit", Verb::edit},
      {"MultiEdit", Verb::edit},
      {"NotebookEdit", Verb::edit},
      {"Read", Verb::read},
      {"NotebookRead", Verb::read},
      {"Grep", Verb::search},
      {"Glob", Verb::search},
      {"WebFetch", Verb::fetch},
      {"WebSearch", Verb::search_web},
      {"ExitPlanMode", Verb::plan},
      {"AskUserQuestion", Verb::ask},
      {"Agent", Verb::delegate},
      {"Task", Verb::delegate},  // the name of Agent before version 2.1
      {"TodoWrite", Verb::track},
      {"TaskCreate", Verb::track},
      {"TaskUpdate", Verb::track},
      {"TaskGet", Verb::routine},
      {"TaskList", Verb::routine},
      {"TaskOutput", Verb::routine},
      {"TaskStop", Verb::routine},
      {"TodoRead", Verb::routine},
      {"BashOutput", Verb::routine},
      {"KillShell", Verb::routine},
      {"KillBash", Verb::routine},
      {"ToolSearch", Verb::routine},
      {"EnterPlanMode", Verb::routine},
      {"ScheduleWakeup", Verb::routine},
      {"LS", Verb::routine},
      {"Skill", Verb::other},
      {"", Verb::routine},  // an event without a tool
  }};
  for (const auto& [name, verb] : kTools)
    if (name == tool) return verb;
  return Verb::other;
}

// A plugin's server is called plugin_PLUGIN_SERVER.
bool is_own_call(std::string_view tool, const Json& input) {
  constexpr std::string_view kPrefix = "mcp__";
  if (verb_of(tool) == Verb::run) return is_own_command(input["command"].as_string());
  if (!tool.starts_with(kPrefix)) return false;
  tool.remove_prefix(kPrefix.size());
  const std::string_view server = tool.substr(0, tool.find("__"));
  return server == "cairn" || (server.starts_with("plugin_") && server.ends_with("_cairn"));
}

std::optional<Origin> origin_of(std::string_view tool) {
  if (any_of(tool, {"Bash", "BashOutput"})) return Origin::output;
  if (any_of(tool, {"WebFetch", "WebSearch"})) return Origin::web;
  if (tool.starts_with("mcp__")) return Origin::mcp;
  return std::nullopt;
}

static std::string_view path_of(const ToolCall& call) {
  for (const char* key : {"file_path", "notebook_path", "path"})
    if (call.input[key].is_string()) return call.input[key].as_string();
  return call.response["filePath"].as_string();
}

// The text of a result: a string, or the first text block.
static std::string_view result_of(const Json& response) {
  if (response.is_string()) return response.as_string();
  for (const Json* list : {&response, &response["content"]})
    for (const Json& item : list->items())
      if (item["text"].is_string()) return item["text"].as_string();
  return response["result"].as_string();
}

static void read_run(const ToolCall& call, Action& action) {
  action.command = call.input["command"].as_string();
  action.description = call.input["description"].as_string();
  // A result that was read from a transcript is only a string.
  action.output = call.response.is_string() ? call.response.as_string() : call.response["stdout"].as_string();
  action.background = call.response.has("backgroundTaskId");
}

static void add_replacement(const Json& edit, Action& action) {
  std::string_view after = edit["new_string"].as_string();
  if (after.empty()) after = edit["new_source"].as_string();
  const std::string_view before = edit["old_string"].as_string();
  if (!before.empty() || !after.empty()) action.replacements.push_back({before, after});
}

// The host's own diff (structuredPatch) has line numbers. Without it only the texts of the input are known.
static void read_change(const ToolCall& call, Action& action) {
  action.content = call.input["content"].as_string();
  action.existed = call.response["type"].as_string() == "update";
  action.before = call.response["originalFile"].as_string();
  for (const Json& from : call.response["structuredPatch"].items()) {
    Hunk& hunk = action.hunks.emplace_back();
    hunk.old_start = from["oldStart"].as_int();
    for (const Json& line : from["lines"].items()) hunk.lines.push_back(line.as_string());
  }
  if (!action.hunks.empty()) return;
  add_replacement(call.input, action);
  for (const Json& edit : call.input["edits"].items()) add_replacement(edit, action);
}

static TaskChange::State state_of(std::string_view text) {
  if (text == "pending") return TaskChange::State::pending;
  if (text == "in_progress") return TaskChange::State::in_progress;
  if (text == "completed") return TaskChange::State::completed;
  if (text == "deleted") return TaskChange::State::deleted;
  return TaskChange::State::unknown;
}

static std::string id_text(const Json& value) {
  return value.is_int() ? std::to_string(value.as_int()) : std::string(value.as_string());
}

// TodoWrite has the whole list each time. TaskCreate and TaskUpdate have one task; the id of a new one is in
// the response.
static void read_tasks(const ToolCall& call, Action& action) {
  if (call.tool == "TodoWrite") {
    action.all_tasks = true;
    for (const Json& todo : call.input["todos"].items())
      action.tasks.push_back({"", todo["content"].as_string(), state_of(todo["status"].as_string())});
  } else if (call.tool == "TaskCreate") {
    action.tasks.push_back({id_text(call.response["task"]["id"]), call.input["subject"].as_string(),
                            TaskChange::State::pending});
  } else {
    action.tasks.push_back({id_text(call.input["taskId"]), call.input["subject"].as_string(),
                            state_of(call.input["status"].as_string())});
  }
}

// Answers are an object whose keys are the questions' texts.
static void read_questions(const ToolCall& call, Action& action) {
  const Json& answers = call.response["answers"];
  for (const Json& question : call.input["questions"].items()) {
    const std::string_view text = question["question"].as_string();
    if (!text.empty()) action.questions.push_back({text, answers[std::string(text)].as_string()});
  }
}

// Errors that the host itself reports: the user, a rule or a hook refused the call, it was malformed, or
// another call of the same batch failed first.
static bool is_refusal(std::string_view error) {
  constexpr std::string_view kTag = "<tool_use_error>", kError = "Error: ";
  for (const std::string_view start : {kTag, kError})
    if (error.starts_with(start)) error.remove_prefix(start.size());
  for (const std::string_view start :
       {"The user doesn't want to ", "User rejected tool use", "Permission to use ", "Permission for this ",
        "Sibling tool call errored", "Cancelled: ", "File has not been read yet",
        "File has been modified since", "InputValidationError", "No such tool available", "Unknown skill",
        "This command requires approval", "Claude requested permissions", "PreToolUse:", "Hook PreToolUse:"})
    if (error.starts_with(start)) return true;
  const std::string_view beginning = error.substr(0, 200);
  return beginning.find("was blocked. For security") != std::string_view::npos ||
         beginning.find("denied by the user") != std::string_view::npos;
}

Action read_action(const ToolCall& call) {
  Action action;
  action.refused = is_refusal(call.error);
  action.verb = verb_of(call.tool);
  action.tool = call.tool;
  action.origin = origin_of(call.tool);
  action.interrupted = was_interrupted(call.response);
  switch (action.verb) {
    case Verb::run: read_run(call, action); break;
    case Verb::write:
    case Verb::edit: read_change(call, action); [[fallthrough]];
    case Verb::read: action.path = path_of(call); break;
    case Verb::search: action.query = call.input["pattern"].as_string(); break;
    case Verb::fetch: action.query = call.input["url"].as_string(); break;
    case Verb::search_web: action.query = call.input["query"].as_string(); break;
    case Verb::plan:
      action.plan = call.input["plan"].as_string();
      if (action.plan.empty()) action.plan = call.response["plan"].as_string();
      break;
    case Verb::ask: read_questions(call, action); break;
    case Verb::delegate:
      action.agent = call.input["subagent_type"].as_string();
      if (action.agent.empty()) action.agent = call.response["agentType"].as_string();
      action.description = call.input["description"].as_string();
      action.result = result_of(call.response);
      break;
    case Verb::track: read_tasks(call, action); break;
    case Verb::routine: break;
    case Verb::other: action.path = path_of(call); break;
  }
  return action;
}

}  // namespace cairn::host::claude
