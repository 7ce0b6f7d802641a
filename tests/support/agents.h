// Recorded hook calls of other coding agents (tests/recorded_agents), for tests to deliver.
#pragma once

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace cairn::test {

// The calls of AGENT/SCENARIO.jsonl, under the names of events that our hook is registered for.
std::vector<RecordedCall> agent_calls(const std::string& agent, const std::string& scenario);
// The transcript that was recorded with it.
std::string agent_transcript(const std::string& agent, const std::string& scenario);

// Delivers them at their times, as that agent's hooks; those of `skipped` events are left out.
void play_agent(Machine& m, const std::string& agent, const std::vector<RecordedCall>& calls,
                const std::vector<std::string>& skipped = {});

}  // namespace cairn::test
