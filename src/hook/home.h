// The paths of one home. Lock and socket are beside cairn.db, not in a directory that the environment names.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn::hook {

// Every name that cairn creates in a home. `cairn uninstall --purge` removes these and nothing else;
// ARCHITECTURE.md ("Where state lives") describes each. A `*` at the end stands for any text, one before the
// end for a number.
inline constexpr auto kHomeNames = std::to_array<std::string_view>(
    {"agent", "archive", "cairn.db*", "daemon.lock", "daemon.sock", "daemon.start", "edit-*.txt",
     "hook.flags", "imports", "inbox", "key", "logs"});

struct Home {
  std::string data;  // $CAIRN_HOME, else $XDG_DATA_HOME/cairn, else ~/.local/share/cairn
  std::string
      config_file;  // $CAIRN_HOME/config.toml, else $XDG_CONFIG_HOME/cairn/config.toml, else ~/.config/...

  // From the environment. Fails with `invalid` when CAIRN_HOME, or without it HOME, is not an absolute path.
  // A relative XDG directory counts as not set.
  static Result<Home> from_environment();
  static Home at(std::string directory);  // same as CAIRN_HOME=directory

  // Fails with `denied` when an existing directory that a hook writes in does not belong to this user.
  Status check_inbox() const;
  // The same for the daemon's other directories and files; archive/, agent/ and imports/ are not checked.
  Status check() const;

  // Whether `name` is one of kHomeNames, or what os::replace_file() makes beside it.
  static bool creates(std::string_view name);

  std::string database() const { return data + "/cairn.db"; }
  std::string inbox() const { return data + "/inbox"; }
  // The files for failed deliveries (failures.h): in the home, and in shared memory for when the home cannot
  // be written.
  std::string failed() const { return data + "/inbox/failed"; }
  std::string failed_outside() const;
  std::string lock() const { return data + "/daemon.lock"; }
  std::string socket() const { return data + "/daemon.sock"; }
  std::string start() const { return data + "/daemon.start"; }
  std::string flags() const { return data + "/hook.flags"; }
  std::string key() const { return data + "/key"; }
  std::string logs() const { return data + "/logs"; }
  std::string log_file() const { return data + "/logs/daemon.log"; }
};

}  // namespace cairn::hook
