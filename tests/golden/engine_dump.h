// A store as a person reads it: sessions, turns, summaries, events and the context that the next session
// gets.
#pragma once

#include <string>

#include "support/engine_fixture.h"

namespace cairn::test {

// Without what differs from run to run: row ids that nobody sees, times of intake, the fence's nonce.
std::string dump(Machine& machine);

// A context without what depends on the home's key.
std::string without_nonces(std::string text);

// Sessions, turns and summaries only: what must not depend on how often an event was delivered.
std::string dump_memory(Machine& machine);

}  // namespace cairn::test
