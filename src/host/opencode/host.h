// OpenCode: a plugin inside its process calls our hook (plugin.js beside this file).
#pragma once

#include "host/host.h"

namespace cairn::host {

const Host& opencode();

}  // namespace cairn::host
