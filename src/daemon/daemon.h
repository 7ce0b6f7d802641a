// The daemon: one per home. Holds the lock, watches the inbox, serves the control socket, and exits when it
// has been idle.
#pragma once

#include "hook/home.h"

namespace cairn::daemon {

// `cairn daemon run`: serves until stopped or idle. Returns the exit code: 0 also when another daemon holds
// the lock.
int run(const hook::Home& home);

}  // namespace cairn::daemon
