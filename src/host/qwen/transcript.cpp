#include "host/qwen/transcript.h"

#include "base/text.h"
#include "host/pairing.h"
#include "host/shaped.h"

namespace cairn::host::qwen_code {

using Item = TranscriptItem;

// The texts of a message, without the model's thoughts.
static std::string parts_text(const Json& line) {
  std::string text;
  for (const Json& part : line["message"]["parts"].items())
    if (part["text"].is_string() && !part["thought"].as_bool())
      text.append(text.empty() ? "" : "\n").append(part["text"].as_string());
  return text;
}

std::string_view printed_in(std::string_view text) {
  constexpr std::string_view kOutput = "Output: ";
  const std::size_t at = text.find(kOutput);
  if (at == std::string_view::npos) return text;
  text.remove_prefix(at + kOutput.size());
  for (const std::string_view end : {"\nError: ", "\nExit Code: "}) text = text.substr(0, text.find(end));
  return text;
}

void Lines::take_line(const Json& line, Item head) {
  if (line["sessionId"].as_string() != session_.value) return;
  cwd_ = head.cwd = line["cwd"].as_string(cwd_);
  branch_ = head.branch = line["gitBranch"].as_string(branch_);
  const std::string_view type = line["type"].as_string();
  // Prompts have no ids in common with hooks, so they are read only where no hook ran. "provenance" tells the
  // user's prompts from those that the host makes.
  if (type == "user" && alone_ && line["provenance"].as_string("real_user") == "real_user") {
    std::string text = parts_text(line);
    if (trim(text).empty()) return;
    head.prompt_id = line["uuid"].as_string();
    return add_prompt(std::move(head), std::move(text));
  }
  if (type == "assistant") take_model(line, head);
  if (type == "tool_result") take_results(line, head);
}

void Lines::take_model(const Json& line, const Item& head) {
  const std::string text = parts_text(line);
  add_text(event::TextKind::remark, text, head);
  may_end(head, text);
  for (const Json& part : line["message"]["parts"].items()) {
    const Json& call = part["functionCall"];
    add_call(head, std::string(call["id"].as_string()), std::string(call["name"].as_string()), call["args"]);
  }
}

void Lines::take_results(const Json& line, const Item& head) {
  for (const Json& part : line["message"]["parts"].items()) {
    const Json& given = part["functionResponse"];
    Item* call = call_with_id(given["id"].as_string());
    if (!call || call->result) continue;
    ToolResult result;
    result.at = head.at;
    const Json& response = given["response"];
    const bool is_error = response["error"].is_string();
    const std::string output(response[is_error ? "error" : "output"].as_string());
    if (const auto code = exit_code_in(output); code && *code != 0) {
      event::Event failed;
      set_exit_code(failed, *code, printed_in(output));
      result.failed = true;
      result.error = failed.error;
    } else if (is_error) {
      result.failed = true;
      result.error = call_error(call->tool_name, output);
    } else {
      result.response = Json(output);
    }
    call->result = std::move(result);
  }
}

std::optional<TranscriptFile> transcript_file(std::string_view path) {
  constexpr std::string_view kEnd = ".jsonl", kFolder = "/chats/";
  const std::size_t slash = path.rfind('/');
  std::string_view name = path.substr(slash + 1);
  if (slash == std::string_view::npos || !path.substr(0, slash + 1).ends_with(kFolder) ||
      !name.ends_with(kEnd))
    return std::nullopt;
  name.remove_suffix(kEnd.size());
  if (!is_uuid(name)) return std::nullopt;
  return TranscriptFile{std::string(name), ""};
}

TranscriptRecord read_record(const Json& line) {
  TranscriptRecord record;
  record.type = line["type"].as_string();
  record.uuid = line["uuid"].as_string();
  record.session = line["sessionId"].as_string();
  record.cwd = line["cwd"].as_string();
  record.at = parse_iso8601(line["timestamp"].as_string());
  record.said = parts_text(line);
  for (const Json& part : line["message"]["parts"].items()) {
    const Json &call = part["functionCall"], &given = part["functionResponse"];
    if (call.is_object())
      record.calls.push_back(
          {std::string(call["id"].as_string()), std::string(call["name"].as_string()), call["args"]});
    if (given.is_object())
      record.results.push_back({std::string(given["id"].as_string()), text_of(given["response"]["output"])});
  }
  return record;
}

}  // namespace cairn::host::qwen_code
