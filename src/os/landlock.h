// Where a child process may write, enforced by the kernel (Landlock, Linux 5.13 or newer).
//
// Writing is restricted: creating, changing, renaming and removing files. Reading and the network are not.
// From version 6 of Landlock on, the process also cannot signal processes outside, or connect to their
// abstract sockets. The restriction applies to the process and to all that it starts, and cannot be
// removed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/socket.h"

namespace cairn::os {

struct Writable {
  enum class What {
    tree,         // the directory and everything below it
    file,         // the content of this file; it cannot be replaced
    directories,  // directories may be created and removed below this one, but no files
  };
  std::string path;  // one that does not exist is ignored
  What what = What::tree;
};

// The version of Landlock that the kernel offers; 0: none.
int landlock_version();

// Rules that allow writing to `places` and nowhere else. An empty descriptor when the kernel has no Landlock.
Result<Fd> write_rules(const std::vector<Writable>& places);

// Applies the rules to the calling thread, which must have PR_SET_NO_NEW_PRIVS. Async-signal-safe. False:
// errno says why.
bool apply_rules(int rules);

}  // namespace cairn::os
