// Queries on the table of settings: which names exist, which values are allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ops/settings.h"

namespace cairn::ops {

// Whether some setting's key starts with `key` and a dot.
bool has_settings_below(std::string_view key);

// "hook.snyc: unknown setting; did you mean hook.sync?"
std::string unknown_key(std::string_view key);

// Nothing when `value` is allowed; else a message with the key, the value and what is allowed.
std::optional<std::string> check(const Setting& setting, const Json& value);

}  // namespace cairn::ops
