// The tools: which operations an agent may call, under which name, and with which of their arguments.
//
// Schemas come from the operations' own declarations (ops/argument.h), so a tool and a command take the same
// arguments. Every definition is sent with every request of an agent: all of them together are small.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "mcp/memory.h"

namespace cairn::mcp {

struct ToolResult {
  std::string text;  // harmless for a model (context/inert.h)
  bool is_error = false;
};

// Thread-safe if the memory is.
class Tools {
 public:
  struct Options {
    std::string directory;  // where the agent works: its project is the only one that the tools show
    std::string session;    // the host's id of the session that asks; empty: not known
  };
  Tools(Memory& memory, Options options);

  // When to use them, for the agent: at most 60 tokens.
  static std::string_view instructions();

  // The list for tools/list: at most 600 tokens.
  const Json& definitions() const { return definitions_; }
  bool has(std::string_view name) const;

  // Calls a tool that is there. `waiting` as in Memory::call. A failure is a result too.
  ToolResult call(std::string_view name, const Json& arguments, const std::function<bool()>& waiting) const;

 private:
  Memory& memory_;
  const Options options_;
  const Json definitions_;
};

}  // namespace cairn::mcp
