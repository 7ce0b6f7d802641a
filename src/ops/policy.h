// Turns settings into rules for the gate.
#pragma once

#include <string>

#include "gate/gate.h"
#include "ops/settings.h"
#include "os/disk.h"

namespace cairn::ops {

// `key`: the home's, for the fingerprints of secrets. `disk` must live as long as the rules.
gate::Rules gate_rules(os::Disk& disk, const Settings& settings, const std::string& key);

}  // namespace cairn::ops
