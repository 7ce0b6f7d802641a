// Runs a program and kills it before a chosen system call. Only system calls change what other processes see,
// so these are all the points at which a death makes a difference. The programs need no special build.
#pragma once

#include <cstdint>

#include "support/process.h"

namespace cairn::test {

enum class Calls {
  all,
  changing,  // those that change files, names or sockets
};

struct Traced {
  std::uint64_t calls = 0;  // counted, of all its threads
  bool killed = false;      // before the k-th; else it ended by itself
};

// Runs the program, kills it with SIGKILL before its k-th call of that kind (1 is the first), and waits until
// it is gone. 0 kills it never. Its children are not counted and not killed. stdout and stderr are dropped;
// Program::input must fit a pipe.
Traced run_until_call(const Program& program, std::uint64_t k, Calls which = Calls::all);

}  // namespace cairn::test
