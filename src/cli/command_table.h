// Finding commands in the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace cairn::cli {

// The command of that name; null when there is none.
const Command* find_command(std::string_view name);
// The commands whose names begin with `path` and a blank.
std::vector<const Command*> commands_below(std::string_view path);
// The error for an unknown command, with a suggestion.
Error unknown_command(const std::vector<std::string>& path);

}  // namespace cairn::cli
