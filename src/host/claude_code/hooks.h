// Claude Code's settings file, and our hooks in it.
#pragma once

#include <array>

#include "base/json.h"
#include "host/hooks.h"

namespace cairn::host::claude {

// $CLAUDE_CONFIG_DIR/settings.json, else ~/.claude/settings.json.
class SettingsHooks final : public Hooks {
 public:
  std::string_view command() const override { return "claude"; }
  const std::vector<std::string>& events() const override;
  Result<std::string> settings_file() const override;
  // Where it ignores the arguments, the hook takes the event's name from the payload.
  bool takes_exec_form(const std::optional<std::string>& version_text) const override;
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override;
  Result<std::string> without_ours(std::string text, const std::optional<std::string>& before) const override;
  Result<std::optional<HookProgram>> program_in(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;
  Registration look(os::Disk& disk, const std::string& directory) const override;
  std::string uninstall_command(std::string_view plugin) const override;
};

// Whether an entry of a `hooks` array runs our hook, in either form, by its program's name.
bool is_our_entry(const Json& entry);

// The first "N.N.N" of a text.
std::optional<std::array<int, 3>> parse_version(std::string_view text);

}  // namespace cairn::host::claude
