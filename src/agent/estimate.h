// What it would take to distil turns with a model: calls, tokens. A pure function of their sizes.
#pragma once

#include <cstdint>
#include <vector>

namespace cairn::agent {

struct PastTurn {
  std::int64_t session = 0, number = 0;
  std::int64_t events = 0, bytes = 0;  // of its events' texts
};

struct Estimate {
  std::int64_t calls = 0, input_tokens = 0, cached_tokens = 0, output_tokens = 0;
};

// Turns of one session go in one conversation, which carries its earlier requests until it is replaced by a
// fresh one.
Estimate estimate(std::vector<PastTurn> turns, std::int64_t batch_events);

}  // namespace cairn::agent
