// The kernel's random bytes, from a seed: programs that link this have getrandom() from here, so that every
// id that the code under test draws is the same in every run.
#pragma once

#include <cstdint>

namespace cairn::sim {

void seed_random_bytes(std::uint64_t seed);

}  // namespace cairn::sim
