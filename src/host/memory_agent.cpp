#include "host/memory_agent.h"

#include "host/claude_code/memory_agent.h"

namespace cairn::host {

std::vector<const MemoryAgent*> memory_agents() {
  return {&claude::memory_agent()};
}

const MemoryAgent* find_memory_agent(std::string_view provider) {
  for (const MemoryAgent* agent : memory_agents())
    if (agent->name() == provider) return agent;
  return nullptr;
}

}  // namespace cairn::host
