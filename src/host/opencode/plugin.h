// The plugin that OpenCode loads: it passes the host's events to our hook, and the hook's context to the
// host.
#pragma once

#include <string>

#include "host/hooks.h"

namespace cairn::host::open_code {

// The text of plugins/cairn.js, which runs `program`.
std::string plugin_text(const HookProgram& program);

}  // namespace cairn::host::open_code
