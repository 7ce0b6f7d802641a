// Waits for a condition instead of sleeping for a guessed time.
#pragma once

#include <chrono>
#include <thread>

namespace cairn::test {

// Asks `condition` every few milliseconds until it is true. False when `timeout` passed first.
template <class Condition>
bool wait_until(Condition&& condition, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  auto pause = std::chrono::milliseconds(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return condition();
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(20)) pause *= 2;
  }
  return true;
}

}  // namespace cairn::test
