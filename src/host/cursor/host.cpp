#include "host/cursor/host.h"

#include <array>

#include "host/other_host.h"

namespace cairn::host::cursor_ide {

namespace {

using event::Kind;
using Verb = Action::Verb;

// Its own names, and those that Claude Code's settings file has for them.
constexpr std::array kKinds = std::to_array<std::pair<std::string_view, Kind>>({
    {"sessionStart", Kind::session_start},      {"beforeSubmitPrompt", Kind::prompt},
    {"preToolUse", Kind::tool_start},           {"postToolUse", Kind::tool},
    {"postToolUseFailure", Kind::tool_failure}, {"stop", Kind::stop},
    {"sessionEnd", Kind::session_end},          {"subagentStart", Kind::subagent_start},
    {"subagentStop", Kind::subagent_stop},      {"preCompact", Kind::compact_start},
    {"SessionStart", Kind::session_start},      {"UserPromptSubmit", Kind::prompt},
    {"PreToolUse", Kind::tool_start},           {"PostToolUse", Kind::tool},
    {"PostToolUseFailure", Kind::tool_failure}, {"Stop", Kind::stop},
    {"SessionEnd", Kind::session_end},          {"SubagentStart", Kind::subagent_start},
    {"SubagentStop", Kind::subagent_stop},      {"PreCompact", Kind::compact_start},
});

constexpr std::array kTools = std::to_array<std::pair<std::string_view, Verb>>({
    {"Shell", Verb::run},
    {"Bash", Verb::run},
    {"Write", Verb::write},
    {"Edit", Verb::edit},
    {"StrReplace", Verb::edit},
    {"Read", Verb::read},
    {"Grep", Verb::search},
    {"Glob", Verb::search},
    {"WebFetch", Verb::fetch},
    {"WebSearch", Verb::search_web},
    {"Task", Verb::delegate},
    {"TodoWrite", Verb::track},
});

class Cursor final : public OtherHost {
 public:
  std::string_view name() const override { return "cursor"; }
  std::string_view title() const override { return "Cursor"; }
  Json write_answer(std::string_view, std::string_view context, std::string_view) const override {
    return context.empty() ? Json::object() : Json::object({{"additional_context", context}});
  }
  Traits traits() const override { return {}; }
  std::vector<const SettingsFile*> files() const override { return {}; }

  // Also called for a payload that was read as Claude Code's (cursor_event): sets the host and the kind too.
  void adapt(event::Event& e, const Json& payload) const override {
    e.host = name();
    e.project_dir.clear();
    e.kind = kind_in(kKinds, e.name);
    if (e.kind == Kind::prompt && e.agent_id) e.left_out = "a prompt for a subagent";
    if (e.cwd.empty() && !payload["workspace_roots"].items().empty())
      e.cwd = payload["workspace_roots"].items()[0].as_string();
    if (e.kind == Kind::tool_failure) e.error = payload["error_message"].as_string(e.error);
    if (e.kind == Kind::stop && is_failure(payload["status"].as_string())) e.kind = Kind::stop_failure;
  }

 protected:
  KindNames kinds() const override { return kKinds; }
  ToolVerbs tools() const override { return kTools; }

 private:
  static bool is_failure(std::string_view status) { return status == "error" || status == "aborted"; }
};

}  // namespace

static const Cursor& instance() {
  static const Cursor host;
  return host;
}

}  // namespace cairn::host::cursor_ide

namespace cairn::host {

const Host& cursor() {
  return cursor_ide::instance();
}

bool is_cursors(const Json& payload) {
  return payload.has("cursor_version");
}

event::Event cursor_event(Shaped shaped) {
  cursor_ide::instance().adapt(shaped.event, shaped.payload);
  return std::move(shaped.event);
}

}  // namespace cairn::host
