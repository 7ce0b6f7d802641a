// Proves that our programs use no network: from the first program that a test starts, the kernel reports
// every child process that opens a socket other than a Unix socket.
//
// Our own programs (names that begin with "cairn") are refused, and the attempt is recorded, unless their
// environment names a provider that needs a network (CAIRN_AGENT_PROVIDER); others may continue. A test
// program with a recorded attempt fails, even if its tests passed.
#pragma once

#include <string>
#include <vector>

namespace cairn::test {

// Begins to watch, once. False where the kernel does not allow it: then nothing is proved, and stderr says
// so.
bool watch_networks();

// The attempts since the last call, a line each. Thread-safe.
std::vector<std::string> take_network_attempts();

}  // namespace cairn::test
