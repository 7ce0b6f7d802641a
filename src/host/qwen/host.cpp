#include "host/qwen/host.h"

#include <array>

#include "base/text.h"
#include "host/files.h"
#include "host/nested_hooks.h"
#include "host/other_host.h"
#include "host/pairing.h"
#include "host/qwen/transcript.h"

namespace cairn::host::qwen_code {

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
    {"StopFailure", Kind::stop_failure},
    {"SessionEnd", Kind::session_end},
    {"SubagentStart", Kind::subagent_start},
    {"SubagentStop", Kind::subagent_stop},
    {"PreCompact", Kind::compact_start},
    {"PostCompact", Kind::compact_end},
});

constexpr std::array kTools = std::to_array<std::pair<std::string_view, Verb>>({
    {"run_shell_command", Verb::run},
    {"write_file", Verb::write},
    {"edit", Verb::edit},
    {"replace", Verb::edit},
    {"read_file", Verb::read},
    {"read_many_files", Verb::read},
    {"grep_search", Verb::search},
    {"search_file_content", Verb::search},
    {"glob", Verb::search},
    {"web_fetch", Verb::fetch},
    {"web_search", Verb::search_web},
    {"todo_write", Verb::track},
    {"agent", Verb::delegate},
    {"task", Verb::delegate},
    {"exit_plan_mode", Verb::plan},
    {"list_directory", Verb::routine},
    {"skill", Verb::routine},
    {"tool_search", Verb::routine},
});

Json entry_for(const HookProgram& program, const std::string& event) {
  return Json::object({{"type", "command"},
                       {"name", "cairn"},
                       {"command", hook_line(program, event, "qwen")},
                       {"timeout", event == "SessionEnd" ? 2'000 : 10'000}});  // in milliseconds
}

Json server_entry(const std::string& cairn) {
  return Json::object({{"command", cairn}, {"args", Json::array({Json("mcp")})}});
}

// Hooks and MCP server are in one file: one plan changes both.
class QwenHooks final : public NestedHooks {
 public:
  QwenHooks()
      : NestedHooks(
            {"qwen",
             "",
             ".qwen",
             "settings.json",
             {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop",
              "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd"},
             entry_for}) {}
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override {
    return server_.with_ours(TRY(NestedHooks::with_ours(std::move(text), program)), program);
  }
  Result<std::string> without_ours(std::string text,
                                   const std::optional<std::string>& before) const override {
    return NestedHooks::without_ours(TRY(server_.without_ours(std::move(text), before)), before);
  }

 private:
  JsonEntry server_{{"", ".qwen", "settings.json"}, "mcpServers", server_entry};
};

class Qwen final : public OtherHost {
 public:
  std::string_view name() const override { return "qwen"; }
  std::string_view title() const override { return "Qwen Code"; }

  std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session, std::string prompt_id,
                                                    bool alone) const override {
    return std::make_unique<Lines>(session, std::move(prompt_id), alone);
  }
  std::string transcript_name(const ContentId& session) const override { return session.value + ".jsonl"; }
  std::optional<TranscriptFile> transcript_file(std::string_view path) const override {
    return qwen_code::transcript_file(path);
  }
  TranscriptRecord read_record(const Json& line) const override { return qwen_code::read_record(line); }
  Traits traits() const override { return {.transcript = Traits::Transcript::ledger}; }
  std::vector<const SettingsFile*> files() const override {
    static const QwenHooks hooks;
    return {&hooks};
  }

 protected:
  KindNames kinds() const override { return kKinds; }
  ToolVerbs tools() const override { return kTools; }
  std::string_view transcripts_below_home() const override { return ".qwen/projects"; }
  int transcript_depth() const override { return 2; }

  void adapt(event::Event& e, const Json& payload) const override {
    if (e.kind == Kind::prompt) {
      // It comes again before each request to the model, with an empty prompt; only the user's own has the
      // second member.
      if (const auto submitted = payload.text("submitted_prompt"); submitted && !e.agent_id)
        e.prompt = *submitted;
      else
        e.left_out = e.agent_id ? "a prompt for a subagent" : "repeats a prompt before a model request";
    }
    // The id that the transcript has too.
    if (const auto call = payload.text("tool_call_id"); call && !call->empty()) e.tool_use_id = *call;
    if (e.kind == Kind::tool_failure)
      if (const auto code = exit_code_in(e.error); code && *code != 0)
        set_exit_code(e, *code, std::string(printed_in(e.error)));
    drop_extra(e, {"timestamp", "submitted_prompt", "tool_call_id"});
  }
};

}  // namespace

}  // namespace cairn::host::qwen_code

namespace cairn::host {

const Host& qwen() {
  static const qwen_code::Qwen host;
  return host;
}

}  // namespace cairn::host
