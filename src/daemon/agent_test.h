// `cairn agent test`: one call of a provider, outside of the queue and of every session.
#pragma once

#include <memory>
#include <optional>

#include "agent/provider.h"
#include "base/json.h"
#include "os/clock.h"

namespace cairn::daemon {

// Belongs to the writer's thread.
class AgentTest {
 public:
  // Sends the prompt. `provider` is null for the built-in distiller, which asks no model.
  AgentTest(std::unique_ptr<agent::Provider> provider, os::Clock& clock);

  // The result once there is one, or when the time is over.
  std::optional<Json> step();

 private:
  Json report(const agent::Usage& usage) const;

  std::unique_ptr<agent::Provider> provider_;
  std::unique_ptr<agent::Conversation> conversation_;  // ends before its provider
  os::Clock& clock_;
  std::int64_t began_;
};

}  // namespace cairn::daemon
