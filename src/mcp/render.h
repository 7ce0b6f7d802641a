// Results of operations as text for a model: ids first, the cost of each record in tokens, nothing that a
// model would obey.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::mcp {

// The text of a result, in at most that many tokens where the tool lets its caller choose.
using Render = std::string (*)(const Json& result, std::size_t tokens);

std::string render_search(const Json& result, std::size_t tokens);
std::string render_timeline(const Json& result, std::size_t tokens);
std::string render_records(const Json& result, std::size_t tokens);
std::string render_remembered(const Json& result, std::size_t tokens);
std::string render_forgotten(const Json& result, std::size_t tokens);
std::string render_resumed(const Json& result, std::size_t tokens);

// `text` without anything that passes for a tag or another speaker, and without what a person cannot see.
// Lines stay lines.
std::string harmless(std::string_view text);

}  // namespace cairn::mcp
