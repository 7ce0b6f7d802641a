// A coding agent's own command-line program, used as a memory agent: a child process that is sent prompts and
// answers with text.
//
// Here is what is particular to the program: its command line, its variables, the files it must write, and
// its lines. Starting it and talking to it is agent/providers/cli.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "os/landlock.h"

namespace cairn::host {

struct AgentRun {
  std::string model;
  std::string system;
  std::string resume;  // the conversation to continue; empty: a new one
  std::int64_t max_output_tokens = 0;
  std::string directory;  // its own: where it runs, with a directory tmp
};

struct AgentFailure {
  enum class Kind { transient, rate_limited, quota, auth, rejected, gone };  // gone: nothing to resume
  Kind kind = Kind::transient;
  std::string reason;
  std::optional<WallTime> until;  // when to try again, if it said so
};

// What the program answered to one prompt.
struct AgentAnswer {
  std::string text;
  std::string model;
  std::int64_t input_tokens = 0, output_tokens = 0, cached_tokens = 0;  // cached: a part of input
  std::optional<double> cost_usd;
  bool cut = false;   // at the token limit
  bool ends = false;  // the process must be ended: it would go on by itself
  std::optional<AgentFailure> failure;
};

// Reads the lines of one process.
class AgentOutput {
 public:
  virtual ~AgentOutput() = default;
  // Reads a line. Returns the answer when this line completes it.
  virtual std::optional<AgentAnswer> read(std::string_view line) = 0;
  // The id of the conversation; empty until a line has carried it.
  virtual const std::string& conversation() const = 0;
};

// Stateless and thread-safe.
class MemoryAgent {
 public:
  virtual ~MemoryAgent() = default;
  // The name of the provider in the settings, and of the program.
  virtual std::string_view name() const = 0;
  virtual std::string_view program() const = 0;
  // Where the program may be when it is not on PATH, absolute.
  virtual std::vector<std::string> usual_places() const = 0;
  virtual std::string_view default_model() const = 0;
  // What the user does when the program is missing, or when it is not logged in.
  virtual std::string_view how_to_install() const = 0;
  virtual std::string_view how_to_log_in() const = 0;

  // The arguments, the program's name first. No user's setting, hook, tool or instruction reaches it.
  virtual std::vector<std::string> arguments(const AgentRun& run) const = 0;
  // "NAME=value", from our own environment or fixed.
  virtual std::vector<std::string> environment(const AgentRun& run) const = 0;
  // Where it writes beside its own directory: its configuration, for resuming and for its login.
  virtual std::vector<os::Writable> configuration() const = 0;
  // A prompt as a line of its input.
  virtual std::string prompt_line(std::string_view text) const = 0;
  virtual std::unique_ptr<AgentOutput> output() const = 0;
};

// The agent of that provider's name; null when there is none.
const MemoryAgent* find_memory_agent(std::string_view provider);
std::vector<const MemoryAgent*> memory_agents();

}  // namespace cairn::host
