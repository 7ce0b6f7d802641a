// Words of a shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

// A word as it is typed in a shell: quoted where it must be.
std::string shell_word(std::string_view text);

// Splits off the first word of a command line, unquoted. Substitutions stay as they are written.
std::string take_shell_word(std::string_view& line);

}  // namespace cairn
