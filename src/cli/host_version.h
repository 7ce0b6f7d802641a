// Asking the host's program which version it is.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::cli {

// What `PROGRAM --version` prints, the program being looked up on PATH; nothing when it cannot be run, fails
// or takes longer than `timeout`.
std::optional<std::string> version_of(const std::string& program, std::chrono::milliseconds timeout);

// The first "N.N.N" of a text.
std::optional<std::array<int, 3>> parse_version(std::string_view text);

// Whether a Claude Code that says this of itself takes a hook as command and arguments. In doubt it does:
// where it ignores the arguments, the hook takes the event's name from the payload.
bool takes_exec_form(const std::optional<std::string>& version_text);

}  // namespace cairn::cli
