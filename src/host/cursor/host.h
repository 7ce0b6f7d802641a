// Cursor, as far as it runs the hooks of Claude Code's settings file: then our hook is called with that
// host's command line and Cursor's payload. Hooks of its own are not registered yet.
#pragma once

#include "host/host.h"
#include "host/shaped.h"

namespace cairn::host {

const Host& cursor();

// Whether a payload that came through another host's settings is Cursor's; and the event in it.
bool is_cursors(const Json& payload);
event::Event cursor_event(Shaped shaped);

}  // namespace cairn::host
