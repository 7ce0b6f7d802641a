// The settings of the memory agent's provider.
#pragma once

#include "agent/providers/factory.h"
#include "ops/argument.h"
#include "ops/settings.h"

namespace cairn::ops {

agent::ProviderSettings provider_settings(const Settings& settings);

// The same with what a request names instead: `provider`, `model`, `endpoint`. Model, endpoint and key file
// of the settings belong to their provider and are not used for another one.
agent::ProviderSettings provider_settings(const Settings& settings, const Args& args);

}  // namespace cairn::ops
