// OpenCode: a plugin inside its process calls our hook (its text is in plugin.cpp).
#pragma once

#include "host/host.h"

namespace cairn::host {

const Host& opencode();

}  // namespace cairn::host
