// What the settings ask of the gate.
#pragma once

#include <string>

#include "gate/gate.h"
#include "ops/settings.h"

namespace cairn::ops {

// `key`: the home's, for the fingerprints of secrets.
gate::Rules gate_rules(const Settings& settings, const std::string& key);

}  // namespace cairn::ops
