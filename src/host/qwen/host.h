// Qwen Code: Gemini's tools, Claude Code's events.
#pragma once

#include "host/host.h"

namespace cairn::host {

const Host& qwen();

}  // namespace cairn::host
