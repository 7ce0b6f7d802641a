// The host's list of MCP servers, and ours in it: `mcpServers` in the file that also holds the host's own
// state.
#pragma once

#include "host/hooks.h"

namespace cairn::host::claude {

// The name under which the host shows our tools: mcp__cairn__search.
inline constexpr std::string_view kServerName = "cairn";

class ServerEntries final : public Entries {
 public:
  std::string_view program_name() const override { return "cairn"; }
  // Fails with `invalid` when another program has our name.
  Result<std::string> with_ours(std::string text, const HookProgram& program) const override;
  Result<std::string> without_ours(std::string text, const std::optional<std::string>& before) const override;
  Result<std::optional<HookProgram>> program_in(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;
};

}  // namespace cairn::host::claude
