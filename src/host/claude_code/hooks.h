// Claude Code's settings file, our hooks in it, and what our tools are allowed to do.
#pragma once

#include <array>

#include "host/nested_hooks.h"

namespace cairn::host::claude {

// $CLAUDE_CONFIG_DIR/settings.json, else ~/.claude/settings.json.
class SettingsHooks final : public NestedHooks {
 public:
  SettingsHooks();
  const Entries& servers() const override;
  Result<std::string> servers_file() const override;
  const std::vector<std::string>& allowed_tools() const override;
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override;
  Result<std::string> without_ours(std::string text, const std::optional<std::string>& before) const override;
  // An older host ignores the arguments; then the hook takes the event's name from the payload.
  bool takes_exec_form(const std::optional<std::string>& version_text) const override;
  std::string uninstall_command(std::string_view plugin) const override;

 protected:
  void look_further(Registration& found, os::Disk& disk, const Json& user,
                    const std::string& directory) const override;
};

// The first "N.N.N" of a text.
std::optional<std::array<int, 3>> parse_version(std::string_view text);

}  // namespace cairn::host::claude
