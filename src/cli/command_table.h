// Finding commands in the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace cairn::cli {

// The command of that name; null when there is none.
const Command* find_command(std::string_view name);
// Those whose names go on after `path`.
std::vector<const Command*> commands_below(std::string_view path);
// Says that there is no such command, and which was probably meant.
Error unknown_command(const std::vector<std::string>& path);

}  // namespace cairn::cli
