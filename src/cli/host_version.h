// Asks the host's program for its version.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::cli {

// The output of `PROGRAM --version`, found on PATH; nothing when it cannot be run, fails or takes longer than
// `timeout`.
std::optional<std::string> version_of(const std::string& program, std::chrono::milliseconds timeout);

// The first "N.N.N" of a text.
std::optional<std::array<int, 3>> parse_version(std::string_view text);

// Whether Claude Code of that version accepts a hook as command and arguments. When unknown, yes: a host that
// ignores the arguments still works, because the hook reads the event's name from the payload.
bool takes_exec_form(const std::optional<std::string>& version_text);

}  // namespace cairn::cli
