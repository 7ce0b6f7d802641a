// Reads tool calls of coding agents whose tools are called alike: a table of names for each host, and one
// reader for the fields that they share under a few spellings.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/action.h"

namespace cairn::host {

using ToolVerbs = std::span<const std::pair<std::string_view, Action::Verb>>;

// `other` for a tool that is not in the table.
Action::Verb verb_in(ToolVerbs tools, std::string_view tool);

// What the call did. The text of a diff, where the host gives one, becomes hunks.
Action read_common_action(const ToolCall& call, Action::Verb verb);

// The files of a patch in the format of apply_patch ("*** Begin Patch"), each as an action. Views point into
// `patch`. Empty when it names no file.
std::vector<Action> read_patch(std::string_view patch, std::string_view tool);

// The blocks of a unified diff.
std::vector<Hunk> read_diff(std::string_view diff);

// Where the result of such a tool comes from.
std::optional<Origin> origin_of_verb(Action::Verb verb);

// A shell command in the input of a call: a string, or the last word of a list ["bash", "-lc", "make"].
std::string_view command_of(const Json& input);

}  // namespace cairn::host
