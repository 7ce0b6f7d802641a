#include "host/codex/host.h"

#include <array>

#include "base/text.h"
#include "host/codex/transcript.h"
#include "host/codex/trust.h"
#include "host/files.h"
#include "host/nested_hooks.h"
#include "host/other_host.h"

namespace cairn::host::codex_cli {

namespace {

using event::Kind;
using Verb = Action::Verb;

constexpr std::array kKinds = std::to_array<std::pair<std::string_view, Kind>>({
    {"SessionStart", Kind::session_start},
    {"UserPromptSubmit", Kind::prompt},
    {"PreToolUse", Kind::tool_start},
    {"PostToolUse", Kind::tool},
    // It has no such event: a failure that only the transcript has gets this name.
    {"PostToolUseFailure", Kind::tool_failure},
    {"Stop", Kind::stop},
    {"SessionEnd", Kind::session_end},
    {"SubagentStart", Kind::subagent_start},
    {"SubagentStop", Kind::subagent_stop},
    {"PreCompact", Kind::compact_start},
    {"PostCompact", Kind::compact_end},
});

constexpr std::array kTools = std::to_array<std::pair<std::string_view, Verb>>({
    {"Bash", Verb::run},
    {"exec_command", Verb::run},
    {"shell", Verb::run},
    {"apply_patch", Verb::edit},
    // Other names that it accepts for tools in the matchers of hooks.
    {"Write", Verb::write},
    {"Edit", Verb::edit},
    {"Read", Verb::read},
    {"view_image", Verb::read},
    {"web_search", Verb::search_web},
    {"update_plan", Verb::track},
    {"spawn_agent", Verb::delegate},
    {"write_stdin", Verb::routine},
    {"wait_agent", Verb::routine},
    {"close_agent", Verb::routine},
    {"tool_search", Verb::routine},
    {"list_mcp_resources", Verb::routine},
});

// A hook's command line is part of what the user approved: any change asks for a new approval. So it has no
// version in it, and stays as it is.
Json entry_for(const HookProgram& program, const std::string& event) {
  // The host allows 3 seconds at a session's end, which is enough: the event is one file.
  return Json::object({{"type", "command"},
                       {"command", hook_line(program, event, "codex")},
                       {"timeout", event == "SessionEnd" ? 3 : 10}});
}

class CodexHooks final : public NestedHooks {
 public:
  CodexHooks()
      : NestedHooks({"codex",
                     "CODEX_HOME",
                     ".codex",
                     "hooks.json",
                     {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop",
                      "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd"},
                     entry_for}) {}

 protected:
  void look_further(Registration& found, os::Disk& disk, const Json& user,
                    const std::string&) const override {
    found.consent = missing_consent(disk, found.settings_file, user);
  }
};

class Codex final : public OtherHost {
 public:
  std::string_view name() const override { return "codex"; }
  std::string_view title() const override { return "Codex"; }

  std::vector<Action> read_actions(const ToolCall& call) const override {
    if (call.tool == "apply_patch")
      if (auto files = read_patch(command_of(call.input), call.tool); !files.empty()) return files;
    return {read_action(call)};
  }
  Action read_action(const ToolCall& call) const override {
    if (call.tool == "apply_patch")
      if (auto files = read_patch(command_of(call.input), call.tool); !files.empty()) return files.front();
    return OtherHost::read_action(call);
  }
  void complete(event::Event& event, os::Disk& disk) const override { add_exit_code(event, disk); }

  std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session, std::string prompt_id,
                                                    bool alone) const override {
    return std::make_unique<Lines>(session, std::move(prompt_id), alone);
  }
  std::optional<TranscriptFile> transcript_file(std::string_view path) const override {
    return codex_cli::transcript_file(path);
  }
  std::vector<FoundTranscript> find_transcripts(os::Disk& disk, const std::string& root) const override {
    auto found = OtherHost::find_transcripts(disk, root);
    for (FoundTranscript& each : found) each.left_out = why_left_out(disk, each.path);
    return found;
  }
  TranscriptRecord read_record(const Json& line) const override { return codex_cli::read_record(line); }
  Traits traits() const override {
    return {.context_limit = 10'000,
            .counts_bytes = true,
            .transcript = Traits::Transcript::ledger,
            .needs_consent = true,
            .hides_failures = true};
  }
  std::vector<const SettingsFile*> files() const override {
    static const CodexHooks hooks;
    static const TomlTable server({"CODEX_HOME", ".codex", "config.toml"});
    return {&hooks, &server};
  }

 protected:
  KindNames kinds() const override { return kKinds; }
  ToolVerbs tools() const override { return kTools; }
  std::string_view transcripts_below_home() const override { return ".codex/sessions"; }
  int transcript_depth() const override { return 3; }

  void adapt(event::Event& e, const Json& payload) const override {
    // One turn is one prompt.
    if (!e.prompt_id) e.prompt_id = payload.text("turn_id");
    if (!e.agent_id) return;
    if (e.kind == Kind::prompt) e.left_out = "a prompt for a subagent";
    // The transcript of a subagent's events is its own.
    if (e.kind != Kind::subagent_stop) e.transcript_path.clear();
  }
};

}  // namespace

}  // namespace cairn::host::codex_cli

namespace cairn::host {

const Host& codex() {
  static const codex_cli::Codex host;
  return host;
}

}  // namespace cairn::host
