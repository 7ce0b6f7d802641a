// Where everything of one home stands. Lock and socket are beside cairn.db, never where the environment says.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::hook {

struct Home {
  std::string data;  // $CAIRN_HOME, else $XDG_DATA_HOME/cairn, else ~/.local/share/cairn
  std::string
      config_file;  // $CAIRN_HOME/config.toml, else $XDG_CONFIG_HOME/cairn/config.toml, else ~/.config/...

  // From the environment. Fails with `invalid` when CAIRN_HOME is set but is not an absolute path, or when it
  // is not set and HOME is none. A relative XDG directory counts as not set.
  static Result<Home> from_environment();
  static Home at(std::string directory);  // as with CAIRN_HOME=directory

  // Fails with `denied` when a directory that a hook writes in, as far as it is there, is not this user's.
  Status check_inbox() const;
  // The same of every directory and file of ours.
  Status check() const;

  std::string database() const { return data + "/cairn.db"; }
  std::string inbox() const { return data + "/inbox"; }
  // Where a hook notes a delivery that failed (failures.h): in the home, or where that cannot be written, in
  // the memory of this machine.
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
