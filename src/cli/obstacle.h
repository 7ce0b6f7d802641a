// What keeps cairn from working in its home: the thing on the disk that is wrong, and the command that fixes
// it.
//
// Used by the doctor and by every command that cannot reach a daemon, so that both name the same cause.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "hook/home.h"

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

// What is wrong with the home's directories and files, the worst first. Changes nothing; what does not exist
// yet is no obstacle when it can be made.
std::vector<Obstacle> obstacles_of(const hook::Home& home);

// The process that holds the home's lock: the daemon. Nothing when nobody holds it, or when that process
// cannot be seen from here (another container).
std::optional<pid_t> daemon_process(const hook::Home& home);

// The last line of the daemon's log when it is an error: why the last daemon ended. Empty otherwise.
std::string last_error(const hook::Home& home);

// A path as it is typed in a shell.
std::string shell_word(std::string_view path);

}  // namespace cairn::cli
