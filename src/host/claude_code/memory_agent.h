// `claude -p` as a memory agent: isolated from the user's settings, hooks, tools and instructions.
#pragma once

#include "host/memory_agent.h"

namespace cairn::host::claude {

const MemoryAgent& memory_agent();

}  // namespace cairn::host::claude
