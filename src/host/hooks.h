// Our entries in a host's files: hooks and permissions in its settings, and the server of our tools. Finds
// the files, reads our entries, and makes their text with and without them.
//
// Only reads files and makes texts. cli/install.h writes them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "os/disk.h"

namespace cairn::host {

// How an entry names our program.
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
  std::string servers_file;              // lists the servers of tools
  std::string servers_problem;           // why it cannot be read; empty when it can
  std::string server;                    // the program that its entry of ours runs; empty: there is none
  std::size_t allowed = 0;               // tools of ours that the settings allow without a question
  std::string consent;  // what the user must still approve, in the host's words; empty: nothing

  // Whether hooks are in the settings file, not only in a plugin.
  bool in_settings() const { return !by_event.empty(); }
};

// Our entries in one file. Stateless and thread-safe.
class Entries {
 public:
  virtual ~Entries() = default;

  // The file's name of the program that they run.
  virtual std::string_view program_name() const = 0;
  // Whether all of the file is ours: uninstalling deletes it.
  virtual bool is_ours_alone() const { return false; }
  // The text with each of our entries exactly once. Entries of an earlier install are replaced in place,
  // those that are no longer used removed; all else keeps its bytes, key order and indentation. An empty text
  // is a file without settings. Fails with `invalid`, saying where, when the text is no settings file.
  virtual Result<std::string> with_ours(std::string text, const HookProgram& program) const = 0;
  // The text without our entries, and without containers that held only our entries. `before`: the text
  // before the install, if it is known; containers that were in it stay.
  virtual Result<std::string> without_ours(std::string text,
                                           const std::optional<std::string>& before) const = 0;
  // What our first entry runs; nothing when there is none. Fails as with_ours does.
  virtual Result<std::optional<HookProgram>> program_in(std::string_view text) const = 0;
  // How many entries run our program; 0 when the text cannot be read.
  virtual std::size_t count(std::string_view text) const = 0;
};

// Our entries in one file of the host: hooks, or the MCP server.
class SettingsFile : public Entries {
 public:
  std::string_view program_name() const override { return "cairn-hook"; }
  // What is registered in it: "hooks", "MCP server".
  virtual std::string_view what() const = 0;
  // The file for this environment.
  virtual Result<std::string> settings_file() const = 0;
};

// The file with our hooks, and what else cairn needs to know about the host's program.
class Hooks : public SettingsFile {
 public:
  std::string_view what() const override { return "hooks"; }
  // The program that starts the host, as it is typed.
  virtual std::string_view command() const = 0;
  // The events that we register for.
  virtual const std::vector<std::string>& events() const = 0;
  // The default host's server of our tools (MCP), and the file of this environment that lists such servers.
  // Other hosts have a SettingsFile for theirs.
  virtual const Entries& servers() const { return *this; }
  virtual Result<std::string> servers_file() const { return Error{Code::unsupported, "no such file"}; }
  // The tools that the settings allow without a question.
  virtual const std::vector<std::string>& allowed_tools() const {
    static const std::vector<std::string> none;
    return none;
  }
  // Whether a host with this output of `COMMAND --version` accepts the exec form; true in doubt.
  virtual bool takes_exec_form(const std::optional<std::string>& version_text) const = 0;

  // Reads the user's settings and those of the project in `directory`.
  virtual Registration look(os::Disk& disk, const std::string& directory) const = 0;
  // The command that removes a plugin of ours; empty when there are none.
  virtual std::string uninstall_command(std::string_view plugin) const = 0;
};

// The settings directory of a host: what `variable` says, else `below` in the home directory. An empty
// `variable` is none.
Result<std::string> host_directory(const char* variable, std::string_view below);

// A JSON file of a host; null when there is none or it is empty.
Result<Json> read_json(os::Disk& disk, const std::string& file);

}  // namespace cairn::host
