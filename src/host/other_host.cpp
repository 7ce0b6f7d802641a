#include "host/other_host.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"
#include "host/own.h"
#include "host/turn_lines.h"

namespace cairn::host {

using event::Event;
using event::Kind;
using Verb = Action::Verb;

Result<Event> OtherHost::read_event(const EventId& id, const hook::Envelope& envelope,
                                    std::string_view payload) const {
  Shaped shaped = TRY(read_shaped(kinds(), id, envelope, payload));
  shaped.event.host = name();
  shaped.event.project_dir.clear();  // from the environment, which is not reliable here (other_host.h)
  adapt(shaped.event, shaped.payload);
  return std::move(shaped.event);
}

Json OtherHost::write_answer(std::string_view event_name, std::string_view context,
                             std::string_view message) const {
  Json answer = Json::object();
  if (!message.empty()) answer.set("systemMessage", message);
  if (!context.empty())
    answer.set("hookSpecificOutput",
               Json::object({{"hookEventName", event_name}, {"additionalContext", context}}));
  return answer;
}

std::string_view OtherHost::context_in(const Json& answer) const {
  for (const char* key : {"additionalContext", "additional_context"})
    if (answer[key].is_string()) return answer[key].as_string();
  return answer["hookSpecificOutput"]["additionalContext"].as_string();
}

Action OtherHost::read_action(const ToolCall& call) const {
  Action action = read_common_action(call, verb_in(tools(), call.tool));
  if (!action.origin) action.origin = origin_of(call.tool);
  return action;
}

// The first tool of that verb in the host's table.
static std::string_view name_of_verb(ToolVerbs tools, Verb wanted) {
  for (const auto& [name, verb] : tools)
    if (verb == wanted) return name;
  return "";
}

MadeCall OtherHost::read_call(std::string_view path, std::string_view content) const {
  return {std::string(name_of_verb(tools(), Verb::read)), Json::object({{"file_path", path}}), Json(content)};
}

MadeCall OtherHost::edit_call(std::string_view path, std::string_view before, std::string_view after) const {
  return {std::string(name_of_verb(tools(), Verb::edit)),
          Json::object({{"file_path", path}, {"old_string", before}, {"new_string", after}}), Json()};
}

bool OtherHost::is_own_call(std::string_view tool, const Json& input) const {
  if (verb_in(tools(), tool) == Verb::run) return is_own_command(command_of(input));
  if (tool.starts_with(own_tool_prefix()) || tool.starts_with("mcp__cairn__")) return true;
  constexpr std::string_view kServer = "mcp__";  // the name that an adapter gave it
  return tool.starts_with(kServer) && tool.substr(kServer.size()).starts_with(own_tool_prefix());
}

std::optional<Origin> OtherHost::origin_of(std::string_view tool) const {
  if (tool.starts_with("mcp__")) return Origin::mcp;
  return origin_of_verb(verb_in(tools(), tool));
}

namespace {

// For a host without transcripts: passes over all lines.
class NoLines final : public TranscriptLines {
 public:
  void take(std::string_view, std::uint64_t, std::uint64_t end) override { piece.end = end; }
};

}  // namespace

std::unique_ptr<TranscriptLines> OtherHost::transcript_lines(const ContentId&, std::string, bool) const {
  return std::make_unique<NoLines>();
}

std::vector<std::string> OtherHost::transcript_roots(os::Disk& disk, const std::string&) const {
  const char* home = std::getenv("HOME");
  if (!home || *home != '/' || transcripts_below_home().empty()) return {};
  const std::string root = disk.real_path(std::string(home) + "/" + std::string(transcripts_below_home()));
  const auto stat = disk.stat(root);
  return stat && stat->is_dir ? std::vector<std::string>{root} : std::vector<std::string>();
}

std::vector<FoundTranscript> OtherHost::find_transcripts(os::Disk& disk, const std::string& root) const {
  std::vector<FoundTranscript> found;
  walk_files(disk, root, transcript_depth(), [&](const std::string& path, const std::string&, os::Stat stat) {
    const auto file = transcript_file(path);
    if (!file || stat.size == 0 || !file->agent.empty()) return;
    found.push_back({path, file->session, stat.size, from_epoch_ms(stat.modified_ns / 1'000'000), ""});
  });
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

std::vector<std::string> OtherHost::transcript_files(os::Disk&, const std::string& main, Status&) const {
  if (!main.starts_with('/') || !transcript_file(main)) return {};
  return {main};
}

std::optional<TranscriptFile> OtherHost::transcript_file(std::string_view) const {
  return std::nullopt;
}

TranscriptRecord OtherHost::read_record(const Json& line) const {
  TranscriptRecord record;
  record.type = line["type"].as_string();
  record.at = parse_iso8601(line["timestamp"].as_string());
  return record;
}

// Members that the host needs unchanged to resume, at the places where hosts write them.
bool OtherHost::is_structure(std::span<const std::string_view> keys) const {
  static constexpr std::array kKeys = std::to_array<std::string_view>(
      {"id",         "uuid",        "parentUuid",    "parentId",   "sessionId",
       "session_id", "type",        "subtype",       "timestamp",  "role",
       "model",      "call_id",     "callID",        "toolCallId", "turn_id",
       "turnId",     "messageId",   "interactionId", "status",     "projectHash",
       "kind",       "cli_version", "version",       "provenance", "encrypted_content"});
  if (keys.empty() || std::find(kKeys.begin(), kKeys.end(), keys.back()) == kKeys.end()) return false;
  return std::all_of(keys.begin(), keys.end() - 1, [](std::string_view key) {
    return any_of(key, {"payload", "message", "data", "item", "content", "parts"});
  });
}

}  // namespace cairn::host
