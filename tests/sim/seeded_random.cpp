#include "sim/seeded_random.h"

#include <sys/types.h>

#include <cstddef>

#include "sim/dice.h"

namespace cairn::sim {

static Dice bytes(0);

void seed_random_bytes(std::uint64_t seed) {
  bytes = Dice(seed);
}

}  // namespace cairn::sim

// Takes the place of the C library's.
extern "C" ssize_t getrandom(void* to, std::size_t size, unsigned) {
  for (std::size_t i = 0; i < size; ++i)
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(cairn::sim::bytes.next() >> 56);
  return static_cast<ssize_t>(size);
}
