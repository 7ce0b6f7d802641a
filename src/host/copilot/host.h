// GitHub Copilot CLI: Claude Code's events, and its own answer.
#pragma once

#include "host/host.h"

namespace cairn::host {

const Host& copilot();

}  // namespace cairn::host
