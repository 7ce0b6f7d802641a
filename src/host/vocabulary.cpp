#include "host/vocabulary.h"

#include <charconv>

#include "base/text.h"

namespace cairn::host {

using Verb = Action::Verb;

Verb verb_in(ToolVerbs tools, std::string_view tool) {
  for (const auto& [name, verb] : tools)
    if (name == tool) return verb;
  return tool.empty() ? Verb::routine : Verb::other;
}

std::optional<Origin> origin_of_verb(Verb verb) {
  if (verb == Verb::run) return Origin::output;
  if (verb == Verb::fetch || verb == Verb::search_web) return Origin::web;
  return std::nullopt;
}

// The first of these members that has a text: hosts spell the same field differently.
static std::string_view first_of(const Json& from, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const std::string_view text = from[key].as_string(); !text.empty()) return text;
  return {};
}

std::string_view command_of(const Json& input) {
  for (const char* key : {"command", "cmd"}) {
    const Json& command = input[key];
    if (command.is_string()) return command.as_string();
    if (!command.items().empty()) return command.items().back().as_string();
  }
  return {};
}

// The text of a result: a string, or one of the members in which hosts put it.
static std::string_view result_text(const Json& response) {
  if (response.is_string()) return response.as_string();
  for (const Json* list : {&response, &response["content"], &response["llmContent"]})
    for (const Json& item : list->items())
      if (item["text"].is_string()) return item["text"].as_string();
  return first_of(response, {"stdout", "output", "returnDisplay", "llmContent", "text_result_for_llm"});
}

// The file of a call: from its input, else from what the host shows of the result.
static std::string_view common_path(const ToolCall& call) {
  const std::string_view path =
      first_of(call.input, {"file_path", "filePath", "path", "absolute_path", "notebook_path"});
  return path.empty() ? first_of(call.response["returnDisplay"], {"filePath"}) : path;
}

std::vector<Hunk> read_diff(std::string_view diff) {
  std::vector<Hunk> hunks;
  for (const std::string_view line : lines(diff)) {
    // "@@ -12,3 +12,4 @@": only the first number is needed. The lines before the first block are a header.
    if (line.starts_with("@@ -")) {
      Hunk& hunk = hunks.emplace_back();
      std::from_chars(line.data() + 4, line.data() + line.size(), hunk.old_start);
    } else if (!hunks.empty() && !line.empty() && std::string_view(" +-").find(line[0]) != line.npos) {
      hunks.back().lines.push_back(line);
    }
  }
  return hunks;
}

static void read_common_change(const ToolCall& call, Action& action) {
  const Json& shown = call.response["returnDisplay"];
  action.content = first_of(call.input, {"content", "file_text", "contents"});
  action.before = first_of(shown, {"originalContent"});
  action.existed = !action.before.empty() || call.response["exists"].as_bool();
  // The diff of a new file would make it an edited one.
  if (action.verb == Verb::edit || action.existed) {
    std::string_view diff = first_of(call.response, {"diff"});
    if (diff.empty()) diff = first_of(shown, {"fileDiff"});
    action.hunks = read_diff(diff);
  }
  if (!action.hunks.empty() || action.verb == Verb::write) return;
  const auto add = [&](const Json& edit) {
    const std::string_view before = first_of(edit, {"old_string", "oldString", "old_str"}),
                           after = first_of(edit, {"new_string", "newString", "new_str"});
    if (!before.empty() || !after.empty()) action.replacements.push_back({before, after});
  };
  // One replacement in the input itself, or a list of them.
  add(call.input);
  for (const Json& edit : call.input["edits"].items()) add(edit);
}

static TaskChange::State state_of(std::string_view text) {
  if (text == "pending") return TaskChange::State::pending;
  if (text == "in_progress") return TaskChange::State::in_progress;
  if (text == "completed") return TaskChange::State::completed;
  if (text == "cancelled" || text == "deleted") return TaskChange::State::deleted;
  return TaskChange::State::unknown;
}

// {"todos":[{"content"|"description","status"}]}, or {"plan":[{"step","status"}]}: the whole list.
static void read_common_tasks(const ToolCall& call, Action& action) {
  action.all_tasks = true;
  for (const char* key : {"todos", "plan", "items"})
    for (const Json& todo : call.input[key].items())
      action.tasks.push_back({"", first_of(todo, {"content", "description", "step", "title"}),
                              state_of(todo["status"].as_string())});
}

bool was_interrupted(const Json& response) {
  return response["interrupted"].as_bool();
}

Action read_common_action(const ToolCall& call, Verb verb) {
  Action action;
  action.verb = verb;
  action.tool = call.tool;
  action.origin = origin_of_verb(verb);
  action.interrupted = was_interrupted(call.response);
  switch (verb) {
    case Verb::run:
      action.command = command_of(call.input);
      action.description = first_of(call.input, {"description", "justification"});
      action.output = result_text(call.response);
      action.background = call.input["is_background"].as_bool();
      break;
    case Verb::write:
    case Verb::edit: read_common_change(call, action); [[fallthrough]];
    case Verb::read: action.path = common_path(call); break;
    case Verb::search: action.query = first_of(call.input, {"pattern", "query"}); break;
    case Verb::fetch: action.query = first_of(call.input, {"url", "prompt"}); break;
    case Verb::search_web: action.query = first_of(call.input, {"query"}); break;
    case Verb::plan: action.plan = first_of(call.input, {"plan", "content"}); break;
    case Verb::ask: break;
    case Verb::delegate:
      action.agent = first_of(call.input, {"subagent_type", "agent_type", "agent_name"});
      action.description = first_of(call.input, {"description", "message", "name"});
      action.result = result_text(call.response);
      break;
    case Verb::track: read_common_tasks(call, action); break;
    case Verb::routine: break;
    case Verb::other: action.path = common_path(call); break;
  }
  return action;
}

// *** Begin Patch
// *** Update File: src/a.cpp
// @@ int main()
// -  return 1;
// +  return 0;
// *** End Patch
std::vector<Action> read_patch(std::string_view patch, std::string_view tool) {
  std::vector<Action> files;
  for (const std::string_view line : lines(patch)) {
    const auto begins = [&](std::string_view what, Verb verb) {
      if (!line.starts_with(what)) return false;
      Action& file = files.emplace_back();
      file.verb = verb;
      file.tool = tool;
      file.path = trim(line.substr(what.size()));
      return true;
    };
    if (begins("*** Add File: ", Verb::write) || begins("*** Update File: ", Verb::edit) ||
        begins("*** Delete File: ", Verb::edit))
      continue;
    if (files.empty() || line.starts_with("*** ")) continue;
    Action& file = files.back();
    // A new file: its text is the part of the patch from its first line to this one. The text is a view into
    // the patch, so the `+` in front of each line stays.
    if (file.verb == Verb::write) {
      const std::size_t begin = file.content.empty()
                                    ? static_cast<std::size_t>(line.data() - patch.data())
                                    : static_cast<std::size_t>(file.content.data() - patch.data());
      file.content =
          patch.substr(begin, static_cast<std::size_t>(line.data() - patch.data()) + line.size() - begin);
    } else if (line.starts_with("@@") || file.hunks.empty()) {  // the first block may lack its "@@"
      file.hunks.emplace_back();
      if (!line.starts_with("@@")) file.hunks.back().lines.push_back(line);
    } else {
      file.hunks.back().lines.push_back(line);
    }
  }
  return files;
}

}  // namespace cairn::host
