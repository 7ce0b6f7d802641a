#include "agent/estimate.h"

#include <algorithm>

#include "agent/provider.h"

namespace cairn::agent {

// Plays the worker without calls: fills a batch with the events of a turn, "sends" it when it is full or
// the turn ends, and counts the conversation that each request carries.
Estimate estimate(std::vector<PastTurn> turns, std::int64_t batch_events) {
  constexpr std::int64_t kSystem = 1100, kTurn = 900, kReply = 900;  // tokens, measured on real sessions
  constexpr std::int64_t kMostEvent = 3200, kMostRequest = 48'000;   // bytes, as requests are cut
  std::sort(turns.begin(), turns.end(), [](const PastTurn& a, const PastTurn& b) {
    return a.session != b.session ? a.session < b.session : a.number < b.number;
  });
  Estimate out;
  // `history`: tokens of the conversation so far. `begun`: turns in the batch; each adds its prompt and
  // answer.
  std::int64_t session = -1, history = 0, events = 0, bytes = 0, begun = 0;
  const auto call = [&] {
    if (begun == 0) return;
    const std::int64_t request = kTurn * begun + std::min(bytes, kMostRequest) / 4;
    if (history + request > kMostConversation) history = 0;
    out.calls += 1;
    out.input_tokens += (history == 0 ? kSystem : history) + request;
    // The conversation before a request is the same text as in the last one, so it is read from the cache.
    out.cached_tokens += history;
    out.output_tokens += kReply;
    history += (history == 0 ? kSystem : 0) + request + kReply;
    events = bytes = begun = 0;
  };
  for (const PastTurn& turn : turns) {
    if (turn.session != session) history = 0;
    session = turn.session;
    std::int64_t left = std::max<std::int64_t>(1, turn.events);
    const std::int64_t each = std::min(kMostEvent, turn.bytes / left);
    begun += 1;
    while (left > 0) {
      const std::int64_t part = std::min(left, std::max<std::int64_t>(1, batch_events - events));
      events += part;
      bytes += part * each;
      left -= part;
      if (events >= batch_events) {
        call();
        if (left > 0) begun = 1;  // the rest of this turn opens the next batch
      }
    }
    call();  // turns are usually further apart than a batch waits
  }
  return out;
}

}  // namespace cairn::agent
