// Serves MCP on two descriptors: the thread that reads, the thread that runs calls, and when to end.
#pragma once

#include "mcp/memory.h"
#include "mcp/tools.h"

namespace cairn::mcp {

struct ServerOptions {
  Tools::Options tools;
  int in = 0, out = 1;
};

// Serves until the input ends (calls that wait are answered first), the client stops reading, SIGINT, SIGTERM
// or SIGHUP arrives, or the parent process is gone. Then ends the process if a call cannot be given up.
// Ignores SIGPIPE; call it once in a process.
void serve(Memory& memory, const ServerOptions& options);

}  // namespace cairn::mcp
