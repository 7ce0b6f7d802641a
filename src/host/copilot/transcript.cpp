#include "host/copilot/transcript.h"

#include "base/text.h"
#include "host/shaped.h"

namespace cairn::host::copilot_cli {

using Item = TranscriptItem;

std::int64_t exit_code_of(std::string_view text) {
  return number_after(text, "exit code ").value_or(0);
}

std::string tool_named(std::string_view name) {
  const bool of_server = name.find('-') != std::string_view::npos && !name.starts_with("mcp_");
  return (of_server ? "mcp__" : "") + std::string(name);
}

void Lines::take_line(const Json& line, Item head) {
  const std::string_view type = line["type"].as_string();
  const Json& data = line["data"];
  if (type == "session.start") {
    cwd_ = data["context"]["cwd"].as_string();
    branch_ = data["context"]["branch"].as_string();
  } else if (type == "user.message" && alone_) {
    head.prompt_id = data["messageId"].as_string(line["id"].as_string());
    add_prompt(std::move(head), std::string(data["content"].as_string()));
  } else if (type == "assistant.message") {
    if (data["toolRequests"].items().empty()) may_end(head, data["content"].as_string());
    add_text(event::TextKind::remark, data["content"].as_string(), std::move(head));
  } else if (type == "tool.execution_start" && alone_) {
    add_call(std::move(head), std::string(data["toolCallId"].as_string()),
             tool_named(data["toolName"].as_string()), data["arguments"]);
  } else if (type == "tool.execution_complete" && alone_) {
    take_result(data, head);
  }
}

void Lines::take_result(const Json& data, const Item& head) {
  Item* call = call_with_id(data["toolCallId"].as_string());
  if (!call || call->result) return;
  ToolResult result;
  result.at = head.at;
  std::string text(data["result"]["content"].as_string());
  const std::int64_t code = data["shellExecution"]["exitCode"].as_int();
  // The host adds a line after the output: "<shellId: 0 completed with exit code 3>".
  if (const std::size_t at = text.rfind("\n<shellId: "); at != std::string::npos) text.resize(at + 1);
  if (code != 0) {
    event::Event failed;
    set_exit_code(failed, code, text);
    result.failed = true;
    result.error = failed.error;
  } else if (!data["success"].as_bool(true)) {
    result.failed = true;
    result.error = call_error(call->tool_name, data["error"]["message"].as_string(text));
  } else {
    result.response = Json::object({{"text_result_for_llm", text}});
  }
  call->result = std::move(result);
}

std::optional<TranscriptFile> transcript_file(std::string_view path) {
  constexpr std::string_view kName = "/events.jsonl";
  if (!path.ends_with(kName)) return std::nullopt;
  path.remove_suffix(kName.size());
  const std::string_view session = path.substr(path.rfind('/') + 1);
  if (!is_uuid(session)) return std::nullopt;
  return TranscriptFile{std::string(session), ""};
}

TranscriptRecord read_record(const Json& line) {
  const Json& data = line["data"];
  TranscriptRecord record;
  record.type = line["type"].as_string();
  record.uuid = line["id"].as_string();
  record.session = data["sessionId"].as_string();
  record.cwd = data["context"]["cwd"].as_string();
  record.at = parse_iso8601(line["timestamp"].as_string());
  if (any_of(record.type, {"user.message", "assistant.message"})) record.said = data["content"].as_string();
  const std::string id(data["toolCallId"].as_string());
  if (record.type == "tool.execution_start")
    record.calls.push_back({id, std::string(data["toolName"].as_string()), data["arguments"]});
  if (record.type == "tool.execution_complete")
    record.results.push_back({id, std::string(data["result"]["content"].as_string())});
  return record;
}

void add_last_answer(event::Event& event, os::Disk& disk) {
  if (event.kind != event::Kind::stop || !event.last_assistant_message.empty() ||
      event.transcript_path.empty())
    return;
  constexpr std::uint64_t kTail = 512u << 10;  // the answer was written just before
  const auto file = disk.open(event.transcript_path, os::Open::read);
  if (!file) return;
  const std::uint64_t size = (*file)->size().value_or(0), from = size > kTail ? size - kTail : 0;
  std::string tail(static_cast<std::size_t>(size - from), '\0');
  tail.resize((*file)->read_at(from, tail.data(), tail.size()).value_or(0));
  const std::vector<std::string_view> all = lines(tail);
  for (auto line = all.rbegin(); line != all.rend(); ++line) {
    if (line->find("\"assistant.message\"") == std::string_view::npos) continue;
    const Json data = Json::parse_partial(*line).value["data"];
    if (trim(data["content"].as_string()).empty()) continue;
    event.last_assistant_message = data["content"].as_string();
    return;
  }
}

}  // namespace cairn::host::copilot_cli
