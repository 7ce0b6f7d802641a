// The key of a model API: from a private file or from the environment, and never from anywhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn::agent {

// The variable that serves for every provider.
inline constexpr const char* kAnyKey = "CAIRN_AGENT_KEY";

// The key: in `file` if one is named, else in CAIRN_AGENT_KEY, else in the first of `variables` that is set.
// Empty: there is none. Fails when the file cannot be read, is not the user's own, or can be read by others.
Result<std::string> find_key(const std::string& file, const std::vector<const char*>& variables);

// `text` without `key`.
std::string without_key(std::string text, std::string_view key);

}  // namespace cairn::agent
