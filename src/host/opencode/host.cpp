#include "host/opencode/host.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "host/files.h"
#include "host/opencode/plugin.h"
#include "host/other_host.h"
#include "host/pairing.h"

namespace cairn::host::open_code {

namespace {

using event::Kind;
using Verb = Action::Verb;

// The host's own names, as the plugin passes them on; those with a dash are the plugin's, for what the host
// says with more than one event.
constexpr std::array kKinds = std::to_array<std::pair<std::string_view, Kind>>({
    {"session-start", Kind::session_start},
    {"chat.message", Kind::prompt},
    {"tool.execute.before", Kind::tool_start},
    {"tool.execute.after", Kind::tool},
    {"tool-error", Kind::tool_failure},
    {"session.idle", Kind::stop},
    {"session.error", Kind::stop_failure},
    {"dispose", Kind::session_end},
    {"subagent-start", Kind::subagent_start},
    {"subagent-idle", Kind::subagent_stop},
    {"experimental.session.compacting", Kind::compact_start},
    {"session.compacted", Kind::compact_end},
});

constexpr std::array kTools = std::to_array<std::pair<std::string_view, Verb>>({
    {"bash", Verb::run},
    {"write", Verb::write},
    {"edit", Verb::edit},
    {"multiedit", Verb::edit},
    {"patch", Verb::edit},
    {"apply_patch", Verb::edit},
    {"read", Verb::read},
    {"grep", Verb::search},
    {"glob", Verb::search},
    {"webfetch", Verb::fetch},
    {"websearch", Verb::search_web},
    {"todowrite", Verb::track},
    {"task", Verb::delegate},
    {"todoread", Verb::routine},
    {"list", Verb::routine},
    {"skill", Verb::routine},
    {"invalid", Verb::routine},
});

const std::vector<std::string>& hooked_events() {
  static const std::vector<std::string> events = [] {
    std::vector<std::string> names;
    for (const auto& [name, kind] : kKinds) names.emplace_back(name);
    return names;
  }();
  return events;
}

Json server_entry(const std::string& cairn) {
  return Json::object(
      {{"type", "local"}, {"command", Json::array({Json(cairn), Json("mcp")})}, {"enabled", true}});
}

class OpenCode final : public OtherHost {
 public:
  std::string_view name() const override { return "opencode"; }
  std::string_view title() const override { return "OpenCode"; }

  Json write_answer(std::string_view, std::string_view context, std::string_view message) const override {
    Json answer = Json::object();
    if (!context.empty()) answer.set("additionalContext", context);
    if (!message.empty()) answer.set("systemMessage", message);
    return answer;
  }
  std::vector<Action> read_actions(const ToolCall& call) const override {
    if (any_of(call.tool, {"patch", "apply_patch"}))
      if (auto files = read_patch(call.input["patchText"].as_string(), call.tool); !files.empty())
        return files;
    return {read_action(call)};
  }
  Traits traits() const override { return {.transcript = Traits::Transcript::none}; }
  std::vector<const SettingsFile*> files() const override {
    static const OwnHooks hooks("opencode", hooked_events(), {"", ".config/opencode", "plugins/cairn.js"},
                                "cairn-hook", plugin_text);
    static const JsonEntry server({"", ".config/opencode", "opencode.json"}, "mcp", server_entry);
    return {&hooks, &server};
  }

 protected:
  KindNames kinds() const override { return kKinds; }
  ToolVerbs tools() const override { return kTools; }
  std::string_view own_tool_prefix() const override { return "cairn_"; }

  void adapt(event::Event& e, const Json& payload) const override {
    if (e.kind == Kind::prompt) {
      e.prompt = without_quotes(e.prompt);
      if (e.agent_id) e.left_out = "a prompt for a subagent";
    }
    if (e.kind == Kind::stop_failure) {
      const Json& error = payload["error"];
      e.error = error["data"]["message"].as_string(error["name"].as_string(e.error));
    }
    if (e.tool_name == "invalid") e.left_out = "the model called a tool that is not there";
    if (e.tool_name && e.tool_response["mcp"].as_bool()) e.tool_name = "mcp__" + *e.tool_name;
    if (e.kind == Kind::tool && e.tool_response["exit"].as_int() != 0) {
      const std::string output(e.tool_response["output"].as_string());
      set_exit_code(e, e.tool_response["exit"].as_int(), output);
    }
    drop_extra(e, {"project_id", "worktree"});
  }

 private:
  // `opencode run "a b"` passes the prompt on with its quotes.
  static std::string without_quotes(const std::string& prompt) {
    const std::string_view text = trim(prompt);
    if (text.size() > 2 && text.front() == '"' && text.back() == '"' && text.find('"', 1) == text.size() - 1)
      return std::string(text.substr(1, text.size() - 2));
    return prompt;
  }
};

}  // namespace

}  // namespace cairn::host::open_code

namespace cairn::host {

const Host& opencode() {
  static const open_code::OpenCode host;
  return host;
}

}  // namespace cairn::host
