// The paths of one home. Lock and socket are beside cairn.db, not in a directory that the environment names.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::hook {

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
  // The same for every directory and file of ours.
  Status check() const;

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
