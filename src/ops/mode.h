// Modes that people add: files beside config.toml.
#pragma once

#include <string>

#include "base/result.h"
#include "distil/distil.h"
#include "hook/home.h"
#include "os/disk.h"

namespace cairn::ops {

// The mode `name`: "code" is built in, any other is read from modes/NAME.toml,
// else from modes/NAME.json (the format of an older memory tool). An error says what is wrong
// and what to do; the caller then uses the built-in mode.
Result<distil::Mode> load_mode(os::Disk& disk, const hook::Home& home, const std::string& name);

}  // namespace cairn::ops
