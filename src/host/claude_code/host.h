// Claude Code: its events, tools and transcripts.
#pragma once

#include "host/host.h"

namespace cairn::host {

const Host& claude_code();

}  // namespace cairn::host
