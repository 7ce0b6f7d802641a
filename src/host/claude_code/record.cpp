#include "host/claude_code/record.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cairn::host::claude {

static void add_text(std::string& to, std::string_view text) {
  if (text.empty()) return;
  if (!to.empty()) to += '\n';
  to += text;
}

static void read_block(const Json& block, TranscriptRecord& record) {
  const std::string_view type = block["type"].as_string();
  if (type == "text") add_text(record.said, block["text"].as_string());
  if (type == "tool_use")
    record.calls.push_back(
        {std::string(block["id"].as_string()), std::string(block["name"].as_string()), block["input"]});
  if (type != "tool_result") return;
  RecordResult& result = record.results.emplace_back();
  result.call = block["tool_use_id"].as_string();
  const Json& content = block["content"];
  if (content.is_string()) add_text(result.text, content.as_string());
  for (const Json& part : content.items()) add_text(result.text, part["text"].as_string());
}

TranscriptRecord read_record(const Json& line) {
  TranscriptRecord record;
  record.type = line["type"].as_string();
  record.uuid = line["uuid"].as_string();
  record.session = line["sessionId"].as_string();
  record.prompt_id = line["promptId"].as_string();
  record.cwd = line["cwd"].as_string();
  record.at = parse_iso8601(line["timestamp"].as_string());
  if (!record.at) record.at = parse_iso8601(line["snapshot"]["timestamp"].as_string());
  const Json& content = line["message"]["content"];
  if (content.is_string()) add_text(record.said, content.as_string());
  for (const Json& block : content.items()) read_block(block, record);
  // In older transcripts calls and results are lines of their own.
  if (record.type == "tool_use") {
    const auto id = line.text("id");
    record.calls.push_back({id.value_or(""), std::string(line["tool"].as_string()), line["input"]});
  }
  if (record.type == "tool_result")
    record.results.push_back({line.text("id").value_or(""), std::string(line["output"].as_string())});
  for (const char* key : {"summary", "content", "aiTitle", "customTitle"})
    add_text(record.said, line[key].as_string());
  return record;
}

// Members that the host needs unchanged to resume. They count only at the places where the host writes them:
// elsewhere a member of that name is the user's data.
bool is_structure(std::span<const std::string_view> keys) {
  static constexpr std::array kKeys =
      std::to_array<std::string_view>({"uuid",        "parentUuid",
                                       "sessionId",   "id",
                                       "type",        "subtype",
                                       "signature",   "timestamp",
                                       "tool_use_id", "promptId",
                                       "requestId",   "leafUuid",
                                       "messageId",   "role",
                                       "model",       "version",
                                       "agentId",     "sourceToolAssistantUUID",
                                       "stop_reason", "logicalParentUuid",
                                       "toolUseID",   "parentToolUseID",
                                       "userType",    "entrypoint"});
  if (keys.empty() || std::find(kKeys.begin(), kKeys.end(), keys.back()) == kKeys.end()) return false;
  return std::all_of(keys.begin(), keys.end() - 1,
                     [](std::string_view key) { return key == "message" || key == "content"; });
}

std::optional<Usage> read_usage(const Json& line) {
  if (line["isSidechain"].as_bool()) return std::nullopt;
  if (line["type"].as_string() == "system" && line["subtype"].as_string() == "compact_boundary")
    return Usage{};
  const Json& message = line["message"];
  const Json& usage = message["usage"];
  if (line["type"].as_string() != "assistant" || !usage.is_object()) return std::nullopt;
  Usage out;
  for (const char* part :
       {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"})
    out.tokens += usage[part].as_int();
  // A message that the host made itself, after an error, has no tokens.
  if (out.tokens <= 0) return std::nullopt;
  out.model = message["model"].as_string();
  return out;
}

// .../SESSION.jsonl, .../SESSION/subagents/agent-ID.jsonl
std::optional<TranscriptFile> transcript_file(std::string_view path) {
  constexpr std::string_view kEnd = ".jsonl", kFolder = "/subagents/agent-";
  if (!path.ends_with(kEnd)) return std::nullopt;
  path.remove_suffix(kEnd.size());
  std::string agent;
  if (const std::size_t at = path.rfind(kFolder); at != std::string_view::npos) {
    agent = path.substr(at + kFolder.size());
    path = path.substr(0, at);
    if (agent.empty()) return std::nullopt;
  }
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.empty() || name == path) return std::nullopt;
  // 20260115_204500Z_clear: a copy that another tool made. Its lines contain the session's id.
  const std::string_view date = name.substr(0, 8), time = name.size() > 15 ? name.substr(9, 6) : "";
  constexpr std::string_view kDigits = "0123456789";
  if (name.size() > 15 && name[8] == '_' && date.find_first_not_of(kDigits) == std::string_view::npos &&
      time.find_first_not_of(kDigits) == std::string_view::npos)
    return std::nullopt;
  return TranscriptFile{std::string(name), std::move(agent)};
}

}  // namespace cairn::host::claude
