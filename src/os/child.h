// A child process that is spoken to over one socket: its stdin and stdout.
//
// It has a process group of its own, holds no descriptor of ours, gets of our environment what any program
// needs and no key that its command does not name, ends when it reads the end of its stdin if
// it is well behaved, and is killed by the kernel when the thread that started it ends: start it from one
// that lives as long as the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/socket.h"

namespace cairn::os {

struct Command {
  std::string executable;  // a path
  std::vector<std::string> argv;
  std::vector<std::string>
      environment;  // what it is given beside plain_environment(): nothing else is ours to give
  std::string cwd = "/";
};

struct Child {
  std::int64_t pid = 0;  // and the id of its process group
  Fd socket;             // our end, non-blocking
};

// Starts it; stderr goes to /dev/null. Fails when it cannot be executed.
Result<Child> spawn_child(const Command& command);

// Whether the child is still there; with `wait` only when it is not. Collects it, and kills what is left of
// its group, once it is gone.
bool reap(std::int64_t pid, bool wait = false);

// Ends the whole group.
void kill_group(std::int64_t pid);

}  // namespace cairn::os
