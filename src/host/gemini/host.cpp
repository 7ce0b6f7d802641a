#include "host/gemini/host.h"

#include <fmt/format.h>

#include <array>

#include "base/hash.h"
#include "base/shell.h"
#include "base/text.h"
#include "host/commands.h"
#include "host/files.h"
#include "host/gemini/transcript.h"
#include "host/nested_hooks.h"
#include "host/other_host.h"
#include "host/pairing.h"

namespace cairn::host::gemini_cli {

namespace {

using event::Kind;
using Verb = Action::Verb;

constexpr std::array kKinds = std::to_array<std::pair<std::string_view, Kind>>({
    {"SessionStart", Kind::session_start},
    {"BeforeAgent", Kind::prompt},
    {"BeforeTool", Kind::tool_start},
    {"AfterTool", Kind::tool},
    // It says a failure in AfterTool; one that only the transcript has gets this name.
    {"AfterToolFailure", Kind::tool_failure},
    {"AfterAgent", Kind::stop},
    {"PreCompress", Kind::compact_start},
    {"SessionEnd", Kind::session_end},
});

constexpr std::array kTools = std::to_array<std::pair<std::string_view, Verb>>({
    {"run_shell_command", Verb::run},
    {"write_file", Verb::write},
    {"replace", Verb::edit},
    {"edit", Verb::edit},
    {"read_file", Verb::read},
    {"read_many_files", Verb::read},
    {"grep_search", Verb::search},
    {"search_file_content", Verb::search},
    {"glob", Verb::search},
    {"web_fetch", Verb::fetch},
    {"google_web_search", Verb::search_web},
    {"write_todos", Verb::track},
    {"invoke_agent", Verb::delegate},
    {"list_directory", Verb::routine},
    {"activate_skill", Verb::routine},
    {"update_topic", Verb::routine},
    {"enter_plan_mode", Verb::routine},
    {"read_background_output", Verb::routine},
    {"list_background_processes", Verb::routine},
});

// BeforeModel, AfterModel and BeforeToolSelection get the whole history for each request, and PreCompress
// comes before every request: none of them is registered.
const std::vector<std::string>& hooked_events() {
  static const std::vector<std::string> events = {"SessionStart", "BeforeAgent", "BeforeTool",
                                                  "AfterTool",    "AfterAgent",  "SessionEnd"};
  return events;
}

// A hook that cannot be started blocks the user's prompt. So a program that is gone must count as a success.
std::string careful_line(const HookProgram& program, std::string_view event) {
  return fmt::format("[ ! -x {} ] || {}", shell_word(program.path), hook_line(program, event, "gemini"));
}

std::string hooks_text(const HookProgram& program) {
  Json hooks = Json::object();
  for (const std::string& event : hooked_events())
    hooks.set(event,
              Json::array({Json::object(
                  {{"hooks",
                    Json::array({Json::object({{"type", "command"},
                                               {"name", "cairn"},
                                               {"command", careful_line(program, event)},
                                               // in milliseconds; the host waits for the end of a session too
                                               {"timeout", event == "SessionEnd" ? 2'000 : 10'000}})})}})}));
  return Json::object({{"hooks", hooks}}).dump(2) + "\n";
}

std::string extension_text(const HookProgram& program) {
  const Json server =
      Json::object({{"command", cairn_beside(program)}, {"args", Json::array({Json("mcp")})}});
  return Json::object({{"name", "cairn"},
                       {"version", CAIRN_VERSION},
                       {"description", "Project memory of cairn"},
                       {"contextFileName", "CAIRN.md"},
                       {"mcpServers", Json::object({{"cairn", server}})}})
             .dump(2) +
         "\n";
}

std::string context_text(const HookProgram&) {
  return fmt::format(
      "Cairn remembers earlier sessions in this project. Search it with its tools before you guess about "
      "earlier "
      "work.\n\n{}\n",
      kCommandMark);
}

class Gemini final : public OtherHost {
 public:
  std::string_view name() const override { return "gemini"; }
  std::string_view title() const override { return "Gemini CLI"; }
  std::optional<Origin> origin_of(std::string_view tool) const override {
    return tool.starts_with("mcp_") ? std::optional(Origin::mcp) : OtherHost::origin_of(tool);
  }
  // After /clear it does not use the context of a session's start.
  bool drops_context(event::StartReason reason) const override { return reason == event::StartReason::clear; }

  std::unique_ptr<TranscriptLines> transcript_lines(const ContentId& session, std::string prompt_id,
                                                    bool alone) const override {
    return std::make_unique<Lines>(session, std::move(prompt_id), alone);
  }
  std::optional<TranscriptFile> transcript_file(std::string_view path) const override {
    return gemini_cli::transcript_file(path);
  }
  std::vector<FoundTranscript> find_transcripts(os::Disk& disk, const std::string& root) const override {
    auto found = OtherHost::find_transcripts(disk, root);
    for (FoundTranscript& each : found) name_session(disk, each);
    return found;
  }
  TranscriptRecord read_record(const Json& line) const override { return gemini_cli::read_record(line); }
  Traits traits() const override { return {.transcript = Traits::Transcript::texts}; }
  std::vector<const SettingsFile*> files() const override {
    static const OwnHooks hooks("gemini", hooked_events(), place("extensions/cairn/hooks/hooks.json"),
                                "cairn-hook", hooks_text);
    static const OwnFile extension("MCP server", place("extensions/cairn/gemini-extension.json"),
                                   "\"name\": \"cairn\"", extension_text);
    static const OwnFile context("context file", place("extensions/cairn/CAIRN.md"), kCommandMark,
                                 context_text);
    return {&hooks, &extension, &context};
  }

 protected:
  KindNames kinds() const override { return kKinds; }
  ToolVerbs tools() const override { return kTools; }
  std::string_view transcripts_below_home() const override { return ".gemini/tmp"; }
  int transcript_depth() const override { return 2; }
  std::string_view own_tool_prefix() const override { return "mcp_cairn_"; }

  void adapt(event::Event& e, const Json& payload) const override {
    e.prompt = without_hook_context(e.prompt);
    if (e.kind == Kind::compact_start && e.reason != "manual") e.left_out = "comes before every request";
    if (e.kind == Kind::stop) {
      e.prompt.clear();
      e.last_assistant_message = joined_answer(payload["prompt_response"].as_string());
      drop_extra(e, {"prompt_response"});
    }
    if (!e.tool_name) return drop_extra(e, {"timestamp"});
    const Json& server = payload["mcp_context"];
    if (server["server_name"].is_string())
      e.tool_name =
          fmt::format("mcp__{}__{}", server["server_name"].as_string(), server["tool_name"].as_string());
    drop_extra(e, {"mcp_context"});
    make_call_id(e);
    if (e.kind == Kind::tool) read_failure(e);
  }

 private:
  static FilePlace place(std::string_view file) { return {"", ".gemini", file}; }

  // All texts of the turn, joined by a blank and a line feed.
  static std::string joined_answer(std::string_view text) {
    std::string answer(trim(text));
    for (std::size_t at; (at = answer.find(" \n")) != std::string::npos;) answer.erase(at, 1);
    return answer;
  }

  static void read_failure(event::Event& e) {
    const Json& response = e.tool_response;
    if (const std::string_view message = response["error"]["message"].as_string(); !message.empty()) {
      e.kind = Kind::tool_failure;
      e.error = message;
    } else if (const auto code = exit_code_in(response["llmContent"].as_string()); code && *code != 0) {
      const std::string output(response["returnDisplay"].as_string());
      set_exit_code(e, *code, output);
    }
  }
};

}  // namespace

}  // namespace cairn::host::gemini_cli

namespace cairn::host {

const Host& gemini() {
  static const gemini_cli::Gemini host;
  return host;
}

}  // namespace cairn::host
