// Text that cairn itself gave to a session: the context it injected, and what its own commands printed. The
// archive keeps it, like all of a transcript. Nothing else stores it, so that cairn does not learn from its
// own output.
#pragma once

#include <string>
#include <string_view>

namespace cairn::host {

// The tag around injected context.
inline constexpr std::string_view kMemoryTag = "cairn-memory";

// Whether a shell command line runs cairn and nothing else, apart from filters of its output.
bool is_own_command(std::string_view command);

// Removes injected context from `text`. False: there is none in it.
bool remove_own_text(std::string& text);

}  // namespace cairn::host
