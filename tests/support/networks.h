// Proves that our programs ask for no network: from the first program that a test runs on, the kernel reports
// of every process below it that wants a socket other than Unix's.
//
// One of ours (its file's name begins with "cairn") is refused and noted; any other goes on. A test program
// that ends with an attempt noted fails, whatever its tests say.
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
