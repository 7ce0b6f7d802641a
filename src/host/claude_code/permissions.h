// Which of our tools the host may call without asking the user: rules in its settings, `permissions.allow`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::host::claude {

// The rules for our tools that change nothing.
const std::vector<std::string>& allowed_without_question();

// Settings with each of these rules; those that are there already stay where they are. Fails with `invalid`,
// saying where, when `permissions` has another shape. `text` is an object.
Result<std::string> with_permissions(std::string text);
// Settings without them, except those that were in `before`; as Entries::without_ours.
Result<std::string> without_permissions(std::string text, const std::optional<std::string>& before);

}  // namespace cairn::host::claude
