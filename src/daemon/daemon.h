// The daemon: one per home. Holds the lock, watches the inbox, serves the control socket, and exits when it
// has been idle.
#pragma once

#include <functional>
#include <memory>

#include "agent/children.h"
#include "agent/provider.h"
#include "hook/home.h"

namespace cairn::daemon {

// Makes the provider that distils, once the daemon can start children for it.
using MakeProvider = std::function<std::unique_ptr<agent::Provider>(agent::Children& children)>;

// `cairn daemon run`: serves until stopped or idle. Without a provider the built-in distiller does all.
// Returns the exit code: 0 also when another daemon holds the lock.
int run(const hook::Home& home, const MakeProvider& make_provider = nullptr);

}  // namespace cairn::daemon
