#include "host/claude_code/hooks.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "base/shell.h"
#include "host/claude_code/permissions.h"
#include "host/claude_code/servers.h"
#include "host/json_edit.h"
#include "host/nested_hooks.h"
#include "os/path.h"

namespace cairn::host::claude {

namespace {

namespace fs = std::filesystem;

constexpr std::array kFirstWithExecForm = {2, 1, 0};
constexpr std::size_t kMaxSettings = 8 << 20;
constexpr int kTimeoutSeconds = 10;  // far above our own deadlines; the host's own default is ten minutes

std::vector<std::string> hooked_events() {
  return {"SessionStart", "UserPromptSubmit", "PreToolUse",    "PostToolUse",        "PostToolUseFailure",
          "Stop",         "StopFailure",      "SubagentStart", "SubagentStop",       "PreCompact",
          "PostCompact",  "SessionEnd",       "Notification",  "InstructionsLoaded", "CwdChanged",
          "TaskCreated",  "TaskCompleted"};
}

Json entry_for(const HookProgram& program, const std::string& event) {
  Json hook = Json::object({{"type", "command"}});
  if (program.exec_form)
    hook.set("command", program.path).set("args", Json::array({Json(event)}));
  else
    hook.set("command", shell_word(program.path) + " " + event);
  // When a session ends, the host waits for the largest timeout of the SessionEnd hooks. Without one it uses
  // its own.
  if (event != "SessionEnd") hook.set("timeout", kTimeoutSeconds);
  return hook;
}

// A plugin that is installed counts as enabled unless the settings say otherwise.
void add_plugins(Registration& found, os::Disk& disk, const Json& settings) {
  const std::string list =
      fs::path(found.settings_file).parent_path().string() + "/plugins/installed_plugins.json";
  const Json installed = read_json(disk, list).value_or(Json());
  for (const auto& [name, entry] : installed["plugins"].members())
    if (name.starts_with("cairn@") && settings["enabledPlugins"][name].as_bool(true))
      found.plugins.push_back(name);
}

void add_server(Registration& found, os::Disk& disk, const Result<std::string>& file) {
  if (!file) return;
  found.servers_file = *file;
  auto text = os::read_file(disk, *file, kMaxSettings);
  if (!text && text.error().code == Code::not_found) return;
  const auto program =
      text ? ServerEntries().program_in(*text) : Result<std::optional<HookProgram>>(text.error());
  if (!program)
    found.servers_problem = program.error().message;
  else if (*program)
    found.server = (*program)->path;
}

}  // namespace

std::optional<std::array<int, 3>> parse_version(std::string_view text) {
  const auto is_digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  // Tries each place where a number begins: "node 22 claude 2.1.197" has another number first.
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(at) || (at > 0 && is_digit(at - 1))) continue;
    std::array<int, 3> numbers{};
    const char* from = text.data() + at;
    const char* const end = text.data() + text.size();
    std::size_t read = 0;
    while (read < 3) {
      const auto [next, error] = std::from_chars(from, end, numbers[read]);
      if (error != std::errc()) break;
      from = next;
      if (++read == 3 || from == end || *from != '.') break;
      ++from;
    }
    if (read == 3) return numbers;
  }
  return std::nullopt;
}

SettingsHooks::SettingsHooks()
    : NestedHooks({"claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json", hooked_events(), entry_for}) {}

const Entries& SettingsHooks::servers() const {
  static const ServerEntries servers;
  return servers;
}

// It is in the settings directory only if CLAUDE_CONFIG_DIR names that directory; else beside it:
// ~/.claude.json.
Result<std::string> SettingsHooks::servers_file() const {
  if (const char* directory = std::getenv("CLAUDE_CONFIG_DIR"); directory && *directory)
    return os::absolute(std::string(directory) + "/.claude.json");
  return fs::path(TRY(settings_file())).parent_path().string() + ".json";
}

const std::vector<std::string>& SettingsHooks::allowed_tools() const {
  return allowed_without_question();
}

bool SettingsHooks::takes_exec_form(const std::optional<std::string>& version_text) const {
  const auto version = version_text ? parse_version(*version_text) : std::nullopt;
  return !version || *version >= kFirstWithExecForm;
}

Result<std::string> SettingsHooks::with_ours(std::string text, const HookProgram& program) const {
  return with_permissions(TRY(NestedHooks::with_ours(std::move(text), program)));
}

Result<std::string> SettingsHooks::without_ours(std::string text,
                                                const std::optional<std::string>& before) const {
  if (is_blank(text)) return text;
  return without_permissions(TRY(NestedHooks::without_ours(std::move(text), before)), before);
}

void SettingsHooks::look_further(Registration& found, os::Disk& disk, const Json& user,
                                 const std::string& directory) const {
  for (const std::string& tool : allowed_without_question())
    for (const Json& allowed : user["permissions"]["allow"].items())
      found.allowed += allowed.as_string() == tool;
  add_server(found, disk, servers_file());
  add_plugins(found, disk, user);
  const std::string project = directory + "/.claude/settings";
  for (const std::string& each : {found.settings_file, project + ".json", project + ".local.json"})
    if (read_json(disk, each).value_or(Json())["disableAllHooks"].as_bool())
      found.disabled_in.push_back(each);
}

std::string SettingsHooks::uninstall_command(std::string_view plugin) const {
  return fmt::format("{} plugin uninstall {}", command(), shell_word(plugin));
}

}  // namespace cairn::host::claude
