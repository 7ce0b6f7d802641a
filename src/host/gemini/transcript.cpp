#include "host/gemini/transcript.h"

#include "base/text.h"
#include "host/pairing.h"
#include "host/shaped.h"

namespace cairn::host::gemini_cli {

using Item = TranscriptItem;
using event::TextKind;

static std::string text_in(const Json& content) {
  if (content.is_string()) return std::string(content.as_string());
  std::string text;
  for (const Json& part : content.items())
    if (part["text"].is_string()) text.append(text.empty() ? "" : "\n").append(part["text"].as_string());
  return text;
}

// The host puts what hooks answer into the prompt, as <hook_context>...</hook_context>.
std::string without_hook_context(std::string_view prompt) {
  constexpr std::string_view kBegin = "<hook_context>", kEnd = "</hook_context>";
  std::string text(prompt);
  for (std::size_t at; (at = text.find(kBegin)) != std::string::npos;) {
    const std::size_t end = text.find(kEnd, at);
    text.erase(at, end == std::string::npos ? end : end + kEnd.size() - at);
  }
  return text.size() == prompt.size() ? text : std::string(trim(text));
}

// The directory that the host names in its first message.
static std::string workspace_in(std::string_view text) {
  constexpr std::string_view kHead = "**Workspace Directories:**\n  - ";
  const std::size_t at = text.find(kHead);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + kHead.size());
  return std::string(trim(text.substr(0, text.find('\n'))));
}

void Lines::take_line(const Json& line, Item head) {
  for (const Json& message : line["$set"]["messages"].items())
    if (std::string found = workspace_in(text_in(message["content"])); !found.empty())
      cwd_ = std::move(found);
  const std::string_view type = line["type"].as_string();
  if (type == "user") take_user(line, std::move(head));
  if (type == "gemini") take_model(line, head);
}

void Lines::take_user(const Json& line, Item head) {
  std::string text = without_hook_context(text_in(line["content"]));
  if (!alone_ || trim(text).empty() || text.starts_with("<session_context>")) return;
  std::string id(line["id"].as_string());
  if (id.empty() || !seen_.insert(id).second) return;
  head.prompt_id = std::move(id);
  add_prompt(std::move(head), std::move(text));
}

// A message is written again whenever it grows, for example when a result of a call is there. Its text is
// taken once, each call once, and a call's result when it comes.
void Lines::take_model(const Json& line, const Item& head) {
  const std::string text = text_in(line["content"]);
  const bool first = seen_.insert(std::string(line["id"].as_string())).second;
  if (first) add_text(TextKind::remark, text, head);
  if (line["toolCalls"].items().empty()) may_end(head, text);
  if (!alone_) return;
  for (const Json& call : line["toolCalls"].items()) take_call(call, head);
}

void Lines::take_call(const Json& call, const Item& head) {
  const std::string id(call["id"].as_string());
  if (seen_.insert("call " + id).second)
    add_call(head, id, std::string(call["name"].as_string()), call["args"]);
  Item* known = call_with_id(id);
  if (!known || known->result || call["result"].items().empty()) return;
  const Json& response = call["result"].items()[0]["functionResponse"]["response"];
  ToolResult result;
  result.at = parse_iso8601(call["timestamp"].as_string()).value_or(head.at);
  result.rejected = call["status"].as_string() == "cancelled";
  const std::string output(response["output"].as_string());
  if (response["error"].is_string() || call["status"].as_string() == "error") {
    result.failed = true;
    result.error = call_error(known->tool_name, response["error"].as_string(output));
  } else if (const auto code = exit_code_in(output); code && *code != 0) {
    event::Event failed;
    set_exit_code(failed, *code, output);
    result.failed = true;
    result.error = failed.error;
  } else {
    result.response = Json(output);
  }
  known->result = std::move(result);
}

// .../chats/session-2026-11-16T16-40-a155f8bf.jsonl
std::optional<TranscriptFile> transcript_file(std::string_view path) {
  constexpr std::string_view kEnd = ".jsonl", kBegin = "session-", kFolder = "/chats/";
  const std::size_t slash = path.rfind('/');
  std::string_view name = path.substr(slash + 1);
  if (slash == std::string_view::npos || !path.substr(0, slash + 1).ends_with(kFolder) ||
      !name.starts_with(kBegin) || !name.ends_with(kEnd))
    return std::nullopt;
  name.remove_suffix(kEnd.size());
  const std::string_view id = name.substr(name.rfind('-') + 1);
  if (id.size() != 8) return std::nullopt;
  return TranscriptFile{};  // the rest of the id is in the file
}

void name_session(os::Disk& disk, FoundTranscript& found) {
  const auto file = disk.open(found.path, os::Open::read);
  std::string bytes(4096, '\0');
  bytes.resize(file ? (*file)->read_at(0, bytes.data(), bytes.size()).value_or(0) : 0);
  const Json head = Json::parse_partial(std::string_view(bytes).substr(0, bytes.find('\n'))).value;
  found.session = head["sessionId"].as_string();
  if (found.session.empty()) found.left_out = "names no session";
  if (head["kind"].as_string("main") != "main") found.left_out = "a subagent's session";
}

TranscriptRecord read_record(const Json& line) {
  TranscriptRecord record;
  record.type = line["type"].as_string();
  record.uuid = line["id"].as_string();
  record.session = line["sessionId"].as_string();
  record.at = parse_iso8601(line["timestamp"].as_string());
  if (!record.at) record.at = parse_iso8601(line["startTime"].as_string());
  for (const Json& message : line["$set"]["messages"].items())
    if (record.cwd.empty()) record.cwd = workspace_in(text_in(message["content"]));
  record.said = without_hook_context(text_in(line["content"]));
  for (const Json& call : line["toolCalls"].items()) {
    const std::string id(call["id"].as_string());
    record.calls.push_back({id, std::string(call["name"].as_string()), call["args"]});
    for (const Json& result : call["result"].items())
      record.results.push_back({id, text_of(result["functionResponse"]["response"]["output"])});
  }
  return record;
}

}  // namespace cairn::host::gemini_cli
