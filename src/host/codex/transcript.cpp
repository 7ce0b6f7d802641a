#include "host/codex/transcript.h"

#include <array>

#include "base/text.h"
#include "host/shaped.h"
#include "host/vocabulary.h"

namespace cairn::host::codex_cli {

using Item = TranscriptItem;
using event::TextKind;

// A line has a type and a payload. "response_item" has calls and their outputs. "event_msg" has prompts,
// answers, the ends of turns, and how a command ended. "session_meta" and "turn_context" say in which
// directory and turn the lines after them are.

// The texts of a list of parts, or the string itself.
static std::string parts_text(const Json& content) {
  if (content.is_string()) return std::string(content.as_string());
  std::string text;
  for (const Json& part : content.items())
    if (part["text"].is_string()) text.append(text.empty() ? "" : "\n").append(part["text"].as_string());
  return text;
}

// A call by the names that hooks use.
struct Call {
  std::string tool;
  Json input;
};
static Call call_of(const Json& payload) {
  const std::string_view type = payload["type"].as_string();
  std::string tool(payload["name"].as_string());
  if (type == "custom_tool_call")
    return {std::move(tool), Json::object({{"command", payload["input"].as_string()}})};
  if (type == "local_shell_call") return {"Bash", Json::object({{"command", command_of(payload["action"])}})};
  Json input = Json::parse(payload["arguments"].as_string()).value_or(Json::object());
  if (any_of(tool, {"exec_command", "shell", "shell_command", "container.exec"}))
    return {"Bash", Json::object({{"command", command_of(input)}})};
  if (const std::string_view space = payload["namespace"].as_string(); !space.empty())
    tool = std::string(space) + "__" + tool;
  return {std::move(tool), std::move(input)};
}

void Lines::take_line(const Json& line, Item head) {
  const std::string_view type = line["type"].as_string();
  const Json& payload = line["payload"];
  if (type == "session_meta") {
    cwd_ = payload["cwd"].as_string();
    branch_ = payload["git"]["branch"].as_string();
  } else if (type == "turn_context") {
    cwd_ = payload["cwd"].as_string(cwd_);
    if (const auto turn = payload.text("turn_id"); turn && !turn->empty()) prompt_id_ = *turn;
  } else if (type == "event_msg") {
    take_message(payload, std::move(head));
  } else if (type == "response_item") {
    take_response(payload, std::move(head));
  } else if (type == "compacted") {
    add_text(TextKind::compaction, payload["message"].as_string(), std::move(head));
  }
}

void Lines::take_message(const Json& payload, Item head) {
  const std::string_view type = payload["type"].as_string();
  if (const auto turn = payload.text("turn_id"); turn && !turn->empty()) prompt_id_ = head.prompt_id = *turn;
  if (type == "item_completed") return take_item(payload, std::move(head));
  if (type == "task_complete" || type == "turn_complete")
    return add_stop(std::move(head), payload["last_agent_message"].as_string());
  if (type == "turn_aborted") return goes_on();
  // Versions before turns had ids.
  if (type == "user_message" && alone_) {
    if (!payload.has("turn_id")) head.prompt_id = "line-" + std::to_string(head.begin);
    return add_prompt(std::move(head), std::string(payload["message"].as_string()));
  }
  if (type == "agent_message") {
    may_end(head, payload["message"].as_string());
    add_text(TextKind::remark, payload["message"].as_string(), std::move(head));
  }
}

void Lines::take_item(const Json& payload, Item head) {
  const Json& item = payload["item"];
  const std::string_view type = item["type"].as_string();
  if (type == "UserMessage") return add_prompt(std::move(head), parts_text(item["content"]));
  if (type == "AgentMessage") {
    may_end(head, parts_text(item["content"]));
    return add_text(TextKind::remark, parts_text(item["content"]), std::move(head));
  }
  // A command that failed. One that succeeded gets its result from its output (take_output).
  if (type != "CommandExecution" || item["exit_code"].as_int() == 0) return;
  Item* call = call_with_id(item["id"].as_string());
  if (!call || call->result) return;
  event::Event failed;
  set_exit_code(failed, item["exit_code"].as_int(), item["aggregated_output"].as_string());
  call->result = ToolResult{{}, true, failed.error, false, head.at};
}

void Lines::take_response(const Json& payload, Item head) {
  const std::string_view type = payload["type"].as_string();
  if (any_of(type, {"function_call", "custom_tool_call", "local_shell_call"})) {
    Call call = call_of(payload);
    std::string id(payload["call_id"].as_string(payload["id"].as_string()));
    return add_call(std::move(head), std::move(id), std::move(call.tool), std::move(call.input));
  }
  if (any_of(type, {"function_call_output", "custom_tool_call_output"})) take_output(payload, head);
}

// The text that a tool printed, and the code with which it ended if the host says so.
struct Output {
  std::string text;
  std::int64_t code = 0;
};
static Output output_of(const Json& output) {
  std::string text = parts_text(output.is_object() ? output["content"] : output);
  // Older versions wrote an object as text.
  if (const auto object = text.starts_with('{') ? Json::parse(text) : Result<Json>(Json());
      object && object->has("metadata"))
    return {std::string((*object)["output"].as_string()), (*object)["metadata"]["exit_code"].as_int()};
  // A head with the exit code, then "Output:" and what was printed. Only the head is searched for the code: a
  // command can print such words itself.
  Output read;
  const std::size_t body = text.find("\nOutput:\n");
  const std::string_view head = std::string_view(text).substr(0, body);
  for (const std::string_view words : {"Process exited with code ", "Exit code: "})
    if (const auto code = number_after(head, words)) read.code = *code;
  read.text = body == std::string::npos ? std::move(text) : text.substr(body + 9);
  return read;
}

void Lines::take_output(const Json& payload, const Item& head) {
  Item* call = call_with_id(payload["call_id"].as_string());
  if (!call || call->result) return;
  Output output = output_of(payload["output"]);
  ToolResult result;
  result.at = head.at;
  if (output.code != 0) {
    event::Event failed;
    set_exit_code(failed, output.code, output.text);
    result.failed = true;
    result.error = failed.error;
  } else if (output.text.starts_with("unsupported call")) {
    result.failed = true;
    result.error = "No such tool available: " + call->tool_name;
  } else if (output.text.starts_with("apply_patch verification failed") ||
             output.text.starts_with("exec_command failed")) {
    result.failed = true;
    result.error = std::move(output.text);
  } else {
    result.response = Json(std::move(output.text));
  }
  call->result = std::move(result);
}

std::optional<TranscriptFile> transcript_file(std::string_view path) {
  constexpr std::string_view kEnd = ".jsonl", kBegin = "rollout-";
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  constexpr std::size_t kId = 36;
  if (name.size() < kBegin.size() + kId || !is_uuid(name.substr(name.size() - kId))) return std::nullopt;
  return TranscriptFile{std::string(name.substr(name.size() - kId)), ""};
}

static std::string first_line(os::Disk& disk, const std::string& path) {
  const auto file = disk.open(path, os::Open::read);
  std::string bytes(64u << 10, '\0');
  bytes.resize(file ? (*file)->read_at(0, bytes.data(), bytes.size()).value_or(0) : 0);
  return bytes.substr(0, bytes.find('\n'));
}

std::string why_left_out(os::Disk& disk, const std::string& path) {
  const Json meta = Json::parse_partial(first_line(disk, path)).value["payload"];
  const bool subagent =
      meta["source"].is_object() || meta["thread_source"].as_string().find("agent") != std::string_view::npos;
  return subagent ? "a subagent's session" : "";
}

TranscriptRecord read_record(const Json& line) {
  const Json& payload = line["payload"];
  const std::string_view type = payload["type"].as_string();
  TranscriptRecord record;
  record.type = line["type"].as_string();
  record.uuid = payload["id"].as_string();
  if (record.type == "session_meta") record.session = payload["id"].as_string();
  record.prompt_id = payload["turn_id"].as_string();
  record.cwd = payload["cwd"].as_string();
  record.at = parse_iso8601(line["timestamp"].as_string());
  if (record.type == "compacted") record.said = payload["message"].as_string();
  if (record.type == "event_msg") {
    if (any_of(type, {"user_message", "agent_message"})) record.said = payload["message"].as_string();
    if (any_of(payload["item"]["type"].as_string(), {"UserMessage", "AgentMessage"}))
      record.said = parts_text(payload["item"]["content"]);
  }
  if (record.type != "response_item") return record;
  const std::string id(payload["call_id"].as_string());
  if (any_of(type, {"function_call", "custom_tool_call", "local_shell_call"})) {
    Call call = call_of(payload);
    record.calls.push_back({id, std::move(call.tool), std::move(call.input)});
  } else if (any_of(type, {"function_call_output", "custom_tool_call_output"})) {
    record.results.push_back({id, output_of(payload["output"]).text});
  }
  return record;
}

void add_exit_code(event::Event& event, os::Disk& disk) {
  if (event.kind != event::Kind::tool || !event.tool_use_id || event.transcript_path.empty() ||
      event.tool_name != "Bash")
    return;
  constexpr std::uint64_t kTail = 128u << 10;  // the line was written just before
  const auto file = disk.open(event.transcript_path, os::Open::read);
  if (!file) return;
  const std::uint64_t size = (*file)->size().value_or(0), from = size > kTail ? size - kTail : 0;
  std::string tail(static_cast<std::size_t>(size - from), '\0');
  tail.resize((*file)->read_at(from, tail.data(), tail.size()).value_or(0));
  for (const std::string_view line : lines(tail)) {
    // Searched as text first: parsing every line would be slow.
    if (line.find(*event.tool_use_id) == std::string_view::npos ||
        line.find("\"CommandExecution\"") == std::string_view::npos)
      continue;
    const Json item = Json::parse_partial(line).value["payload"]["item"];
    if (item["id"].as_string() != *event.tool_use_id || item["exit_code"].as_int() == 0) continue;
    set_exit_code(event, item["exit_code"].as_int(), text_of(event.tool_response));
  }
}

}  // namespace cairn::host::codex_cli
