// A coding agent's own program as a provider: a child process for each conversation, which is sent prompts
// as lines and answers in lines.
//
// The child has no tools and no settings of the user, runs in a directory of its own, and can write only
// there and in its configuration (os/child.h). It is started with the first prompt. When it ends between two
// prompts, the conversation is over (`canceled`), and the worker may resume it by its id.
#pragma once

#include <memory>
#include <string>

#include "agent/children.h"
#include "agent/provider.h"
#include "host/memory_agent.h"
#include "os/disk.h"

namespace cairn::agent {

struct CliOptions {
  std::string model;      // empty: the agent's default
  std::string directory;  // of the child, below cairn's home; made if it is missing
};

std::unique_ptr<Provider> make_cli_provider(const host::MemoryAgent& agent, Children& children,
                                            os::Disk& disk, const CliOptions& options);

// The program, on PATH or where it usually is. Fails with what to do when there is none.
Result<std::string> find_agent_program(const host::MemoryAgent& agent);

}  // namespace cairn::agent
