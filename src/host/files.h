// Files in which a host registers something: one that is all ours, one entry in a JSON file of the user, one
// table in a TOML file of the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/hooks.h"

namespace cairn::host {

// Where a file is: in the host's directory, see host_directory().
struct FilePlace {
  const char* variable = "";
  std::string_view directory;
  std::string_view file;
  Result<std::string> path() const;
};

// `cairn` beside the hook's program, for the MCP server; and back.
std::string cairn_beside(const HookProgram& program);
HookProgram hook_beside(std::string_view cairn);

// A file that is all ours. One of that name without our mark is the user's and is left alone.
class OwnFile final : public SettingsFile {
 public:
  using Text = std::string (*)(const HookProgram& program);
  OwnFile(std::string_view what, FilePlace place, std::string_view mark, Text text)
      : what_(what), place_(place), mark_(mark), text_(text) {}

  std::string_view what() const override { return what_; }
  Result<std::string> settings_file() const override { return place_.path(); }
  bool is_ours_alone() const override { return true; }
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override;
  Result<std::string> without_ours(std::string text, const std::optional<std::string>& before) const override;
  Result<std::optional<HookProgram>> program_in(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;

 private:
  std::string_view what_;
  FilePlace place_;
  std::string_view mark_;
  Text text_;
};

// The hooks of a host in a file that is all ours.
class OwnHooks : public Hooks {
 public:
  OwnHooks(std::string_view command, std::vector<std::string> events, FilePlace place, std::string_view mark,
           OwnFile::Text text)
      : command_(command), events_(std::move(events)), file_("hooks", place, mark, text), place_(place) {}

  std::string_view command() const override { return command_; }
  const std::vector<std::string>& events() const override { return events_; }
  bool takes_exec_form(const std::optional<std::string>&) const override { return false; }
  Registration look(os::Disk& disk, const std::string& directory) const override;
  std::string uninstall_command(std::string_view) const override { return ""; }
  Result<std::string> settings_file() const override { return file_.settings_file(); }
  bool is_ours_alone() const override { return true; }
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override {
    return file_.with_ours(std::move(text), program);
  }
  Result<std::string> without_ours(std::string text,
                                   const std::optional<std::string>& before) const override {
    return file_.without_ours(std::move(text), before);
  }
  Result<std::optional<HookProgram>> program_in(std::string_view text) const override {
    return file_.program_in(text);
  }
  // One for each event.
  std::size_t count(std::string_view text) const override { return file_.count(text) * events_.size(); }

 private:
  std::string_view command_;
  std::vector<std::string> events_;
  OwnFile file_;
  FilePlace place_;
};

// The member `cairn` of the object `container` in a JSON file: the MCP server.
class JsonEntry final : public SettingsFile {
 public:
  using Value = Json (*)(const std::string& cairn);
  JsonEntry(FilePlace place, std::string_view container, Value value)
      : place_(place), container_(container), value_(value) {}

  std::string_view what() const override { return "MCP server"; }
  Result<std::string> settings_file() const override { return place_.path(); }
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override;
  Result<std::string> without_ours(std::string text, const std::optional<std::string>& before) const override;
  Result<std::optional<HookProgram>> program_in(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;

 private:
  FilePlace place_;
  std::string_view container_;
  Value value_;
};

// The table [mcp_servers.cairn] at the end of a TOML file.
class TomlTable final : public SettingsFile {
 public:
  explicit TomlTable(FilePlace place) : place_(place) {}

  std::string_view what() const override { return "MCP server"; }
  Result<std::string> settings_file() const override { return place_.path(); }
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override;
  Result<std::string> without_ours(std::string text, const std::optional<std::string>& before) const override;
  Result<std::optional<HookProgram>> program_in(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;

 private:
  FilePlace place_;
};

}  // namespace cairn::host
