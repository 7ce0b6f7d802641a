// Claude Code's tools: which one edits, runs, reads, plans, asks, delegates or tracks tasks, and its fields.
#pragma once

#include <optional>
#include <string_view>

#include "host/action.h"

namespace cairn::host::claude {

Action read_action(const ToolCall& call);
bool is_own_call(std::string_view tool, const Json& input);
std::optional<Origin> origin_of(std::string_view tool);

}  // namespace cairn::host::claude
