// The daemon: one per home. Holds the lock, watches the inbox, serves the control socket, and exits when
// idle.
#pragma once

#include <functional>
#include <memory>

#include "agent/children.h"
#include "agent/provider.h"
#include "hook/home.h"
#include "os/disk.h"

namespace cairn::daemon {

// Creates the provider, which uses `children` to start processes.
using MakeProvider = std::function<std::unique_ptr<agent::Provider>(agent::Children& children)>;

// `cairn daemon run`: serves until stopped or idle. Without `make_provider` the settings name the provider.
// Returns the exit code: 0 also when another daemon has the lock.
int run(os::Disk& disk, const hook::Home& home, const MakeProvider& make_provider = nullptr);

}  // namespace cairn::daemon
