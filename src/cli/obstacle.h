// Finds what prevents cairn from working in its home: the file or directory that is wrong, and the command
// that fixes it.
//
// Used by `cairn doctor` and by every command that cannot reach a daemon, so that both name the same cause.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "hook/home.h"
#include "os/disk.h"

namespace cairn::cli {

struct Obstacle {
  enum class Kind {
    layout,    // a file where a directory belongs, or the other way round
    writable,  // a directory or file that this user cannot write
    key,       // not 32 bytes
  };
  Kind kind;
  std::string what;  // "/home/dev/x is a file, not a directory"
  std::string fix;   // what to type or do
};

// Everything wrong with the home's directories and files, worst first. Changes nothing. A missing file is
// fine when it can be created.
std::vector<Obstacle> obstacles_of(const hook::Home& home);

// The process of the daemon, which has the home's lock. Nothing when there is none, or when it is not visible
// here (another container).
std::optional<pid_t> daemon_process(os::Disk& disk, const hook::Home& home);

// The last line of the daemon's log when it is an error: why the last daemon ended. Empty otherwise.
std::string last_error(os::Disk& disk, const hook::Home& home);

// The events that hooks could not write and no daemon has counted yet: "2 events could not be written: No
// space left on device". Empty when there are none.
std::string unwritten_events(os::Disk& disk, const hook::Home& home);

}  // namespace cairn::cli
