// Our hooks in a settings file of the form that Claude Code introduced:
// {"hooks": {EVENT: [{"matcher": ..., "hooks": [ENTRY, ...]}, ...]}}. Several coding agents use it; their
// entries differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/hooks.h"

namespace cairn::host {

// What is a host's own in such a file.
struct HookStyle {
  std::string_view command;    // the program, as it is typed
  const char* variable = "";   // names the directory of the file; empty: none
  std::string_view directory;  // below the home directory, without such a variable
  std::string_view file;
  std::vector<std::string> events;
  Json (*entry)(const HookProgram& program, const std::string& event) = nullptr;
};

class NestedHooks : public Hooks {
 public:
  explicit NestedHooks(HookStyle style) : style_(std::move(style)) {}

  std::string_view command() const override { return style_.command; }
  const std::vector<std::string>& events() const override { return style_.events; }
  Result<std::string> settings_file() const override;
  bool takes_exec_form(const std::optional<std::string>&) const override { return false; }
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override;
  Result<std::string> without_ours(std::string text, const std::optional<std::string>& before) const override;
  Result<std::optional<HookProgram>> program_in(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;
  Registration look(os::Disk& disk, const std::string& directory) const override;
  std::string uninstall_command(std::string_view) const override { return ""; }

 protected:
  // Adds what only this host's settings say.
  virtual void look_further(Registration& found, os::Disk& disk, const Json& user,
                            const std::string& directory) const {
    static_cast<void>(found), static_cast<void>(disk), static_cast<void>(user), static_cast<void>(directory);
  }

 private:
  HookStyle style_;
};

// Whether an entry of a `hooks` array runs our hook, in either form, by its program's name.
bool is_our_entry(const Json& entry);

// "PROGRAM EVENT --host HOST" for a shell.
std::string hook_line(const HookProgram& program, std::string_view event, std::string_view host);

}  // namespace cairn::host
