// Our hooks in a host's settings: finds the file, reads our entries, and makes its text with and without
// them.
//
// Only reads files and makes texts. cli/install.h writes them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/disk.h"

namespace cairn::host {

// How a hook's entry names our program.
struct HookProgram {
  std::string path;
  bool exec_form = true;  // as a program and its arguments; else as a line for a shell
};

// How cairn is registered with a host.
struct Registration {
  bool present = false;  // the host's program or its directory exists
  std::string settings_file;
  std::string problem;                   // why its settings cannot be read; empty when they can
  std::map<std::string, int> by_event;   // our hooks in the settings
  std::vector<std::string> programs;     // what they run, each once
  std::vector<std::string> disabled_in;  // files that switch all hooks off
  std::vector<std::string> plugins;      // our plugins that are enabled

  // Whether hooks are in the settings file, not only in a plugin.
  bool in_settings() const { return !by_event.empty(); }
};

// Stateless and thread-safe.
class Hooks {
 public:
  virtual ~Hooks() = default;

  // The program that starts the host, as it is typed.
  virtual std::string_view command() const = 0;
  // The events that we register for.
  virtual const std::vector<std::string>& events() const = 0;
  // The settings file for this environment.
  virtual Result<std::string> settings_file() const = 0;
  // Whether a host with this output of `COMMAND --version` accepts the exec form; true in doubt.
  virtual bool takes_exec_form(const std::optional<std::string>& version_text) const = 0;

  // The settings with every event exactly once. Entries of an earlier install are replaced in place, those
  // under other events removed; all else keeps its bytes, key order and indentation. An empty text is a file
  // without settings. Fails with `invalid`, saying where, when the text is no settings file.
  virtual Result<std::string> with_ours(std::string text, const HookProgram& program) const = 0;
  // The settings without our entries, and without containers that held only our entries. `before`: the text
  // before the install, if it is known; containers that were in it stay.
  virtual Result<std::string> without_ours(std::string text,
                                           const std::optional<std::string>& before) const = 0;
  // What our first entry runs; nothing when there is none. Fails as with_ours does.
  virtual Result<std::optional<HookProgram>> program_in(std::string_view text) const = 0;
  // How many entries are ours; 0 when the text cannot be read.
  virtual std::size_t count(std::string_view text) const = 0;

  // Reads the user's settings and those of the project in `directory`.
  virtual Registration look(os::Disk& disk, const std::string& directory) const = 0;
  // The command that removes a plugin of ours.
  virtual std::string uninstall_command(std::string_view plugin) const = 0;
};

// The file of that program on PATH.
std::optional<std::string> on_path(std::string_view program);

}  // namespace cairn::host
