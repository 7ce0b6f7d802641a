#include "host/copilot/host.h"

#include <array>

#include "base/text.h"
#include "host/copilot/transcript.h"
#include "host/files.h"
#include "host/nested_hooks.h"
#include "host/other_host.h"
#include "host/pairing.h"

namespace cairn::host::copilot_cli {

namespace {

using event::Kind;
using Verb = Action::Verb;

constexpr std::array kKinds = std::to_array<std::pair<std::string_view, Kind>>({
    {"SessionStart", Kind::session_start},
    {"UserPromptSubmit", Kind::prompt},
    {"PreToolUse", Kind::tool_start},
    {"PostToolUse", Kind::tool},
    {"PostToolUseFailure", Kind::tool_failure},
    {"Stop", Kind::stop},
    {"errorOccurred", Kind::stop_failure},
    {"SessionEnd", Kind::session_end},
    {"SubagentStart", Kind::subagent_start},
    {"SubagentStop", Kind::subagent_stop},
    {"PreCompact", Kind::compact_start},
});

// The names that hooks have, then those of the transcript.
constexpr std::array kTools = std::to_array<std::pair<std::string_view, Verb>>({
    {"Bash", Verb::run},          {"Write", Verb::write},       {"Edit", Verb::edit},
    {"Read", Verb::read},         {"Grep", Verb::search},       {"Glob", Verb::search},
    {"WebFetch", Verb::fetch},    {"Agent", Verb::delegate},    {"TodoWrite", Verb::track},
    {"bash", Verb::run},          {"create", Verb::write},      {"edit", Verb::edit},
    {"view", Verb::read},         {"grep", Verb::search},       {"glob", Verb::search},
    {"web_fetch", Verb::fetch},   {"task", Verb::delegate},     {"report_intent", Verb::routine},
    {"read_bash", Verb::routine}, {"stop_bash", Verb::routine},
});

// Never PreToolUse: the host refuses the tool call when that hook fails. The spelling of the names decides
// the shape of the payloads.
const std::vector<std::string>& hooked_events() {
  static const std::vector<std::string> events = {
      "SessionStart",  "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop",
      "SubagentStart", "SubagentStop",     "PreCompact",  "SessionEnd"};
  return events;
}

std::string hooks_text(const HookProgram& program) {
  Json hooks = Json::object();
  for (const std::string& event : hooked_events())
    hooks.set(event, Json::array({Json::object({{"type", "command"},
                                                {"command", hook_line(program, event, "copilot")},
                                                {"timeoutSec", event == "SessionEnd" ? 2 : 10}})}));
  return Json::object({{"version", 1}, {"hooks", hooks}}).dump(2) + "\n";
}

Json server_entry(const std::string& cairn) {
  return Json::object({{"type", "local"},
                       {"command", cairn},
                       {"args", Json::array({Json("mcp")})},
                       {"tools", Json::array({Json("*")})}});
}

class Copilot final : public OtherHost {
 public:
  std::string_view name() const override { return "copilot"; }
  std::string_view title() const override { return "Copilot CLI"; }

  // Only this works; the nested form is ignored, and it has no message for the user.
  Json write_answer(std::string_view, std::string_view context, std::string_view) const override {
    return context.empty() ? Json::object() : Json::object({{"additionalContext", context}});
  }
  void complete(event::Event& event, os::Disk& disk) const override { add_last_answer(event, disk); }

  std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session, std::string prompt_id,
                                                    bool alone) const override {
    return std::make_unique<Lines>(session, std::move(prompt_id), alone);
  }
  std::optional<TranscriptFile> transcript_file(std::string_view path) const override {
    return copilot_cli::transcript_file(path);
  }
  TranscriptRecord read_record(const Json& line) const override { return copilot_cli::read_record(line); }
  Traits traits() const override { return {.transcript = Traits::Transcript::texts}; }
  std::vector<const SettingsFile*> files() const override {
    static const OwnHooks hooks("copilot", hooked_events(), {"", ".copilot", "hooks/cairn.json"},
                                "cairn-hook", hooks_text);
    static const JsonEntry server({"", ".copilot", "mcp-config.json"}, "mcpServers", server_entry);
    return {&hooks, &server};
  }

 protected:
  KindNames kinds() const override { return kKinds; }
  ToolVerbs tools() const override { return kTools; }
  std::string_view transcripts_below_home() const override { return ".copilot/session-state"; }
  int transcript_depth() const override { return 1; }
  std::string_view own_tool_prefix() const override { return "cairn-"; }

  void adapt(event::Event& e, const Json& payload) const override {
    if (e.reason == "new") {
      e.start_reason = event::StartReason::startup;
      e.reason = event::start_reason_name(e.start_reason);
    }
    // Inside a subagent the session is the subagent's own.
    if (const auto parent = payload.text("parent_agent_id"); parent && e.agent_id == e.session.value) {
      e.session = ContentId{*parent};
      if (e.kind == Kind::prompt) e.left_out = "a prompt for a subagent";
      if (e.kind == Kind::stop) e.left_out = "the end of a subagent's turn";
    }
    if (e.transcript_path.empty()) e.transcript_path = payload["transcriptPath"].as_string();
    if (payload.has("tool_result")) e.tool_response = payload["tool_result"];
    if (e.tool_name) e.tool_name = tool_named(*e.tool_name);
    if (e.tool_name) make_call_id(e);
    if (e.kind == Kind::tool) read_exit_code(e);
    if (e.kind == Kind::tool_failure && is_unknown_tool(e.error))
      e.left_out = "the model called a tool that is not there";
    drop_extra(e, {"initial_prompt", "tool_result", "sessionId", "transcriptPath", "parent_agent_id"});
    if (!e.tool_name) drop_extra(e, {"timestamp"});
  }

 private:
  // The last line of what a command printed: "<shellId: 0 completed with exit code 3>".
  static void read_exit_code(event::Event& e) {
    std::string_view text = e.tool_response["text_result_for_llm"].as_string();
    constexpr std::string_view kLine = "<shellId: ";
    const std::size_t at = text.rfind(kLine);
    if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n')) return;
    const std::int64_t code = exit_code_of(text.substr(at));
    const std::string printed(text.substr(0, at));
    if (code != 0)
      set_exit_code(e, code, printed);
    else
      e.tool_response.set("text_result_for_llm", printed);
  }
};

}  // namespace

}  // namespace cairn::host::copilot_cli

namespace cairn::host {

const Host& copilot() {
  static const copilot_cli::Copilot host;
  return host;
}

}  // namespace cairn::host
