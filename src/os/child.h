// A child process with one socket as its stdin and stdout.
//
// It has a process group of its own and none of our descriptors. From our environment it gets only what any
// program needs, plus the variables that its command names. It has resource limits, can gain no privileges,
// and where the kernel has Landlock it writes only where its command allows. A well-behaved child ends when
// its stdin is closed. The kernel kills it when the thread that started it ends: start it from a thread that
// lives as long as the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/landlock.h"
#include "os/socket.h"

namespace cairn::os {

// What one process may use. There is no limit of address space: JavaScript engines reserve far more of it
// than they use.
struct Limits {
  std::uint64_t cpu_seconds = 900;
  std::uint64_t file_bytes = 512u << 20;
  std::uint64_t data_bytes = std::uint64_t{8} << 30;
  std::uint64_t open_files = 4096;
};

struct Command {
  std::string executable;  // a path
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // added to plain_environment()
  std::string cwd = "/";
  // The only places where it may write, beside /dev/null; nothing: it is not restricted.
  std::optional<std::vector<Writable>> may_write;
  Limits limits;
};

struct Child {
  std::int64_t pid = 0;  // and the id of its process group
  Fd socket;             // our end, non-blocking
};

// Starts it; stderr goes to /dev/null. Fails when it cannot be executed.
Result<Child> spawn_child(const Command& command);

// Whether the child still runs; with `wait`, waits until it has ended. Once it has ended, reaps it and kills
// the rest of its group.
bool reap(std::int64_t pid, bool wait = false);

// Ends the whole group.
void kill_group(std::int64_t pid);

}  // namespace cairn::os
