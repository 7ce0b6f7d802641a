// Whether Codex will run our hooks. It runs a hook only after its user has approved it, and says nothing when
// it skips one. What was approved is in config.toml, as a hash of the hook.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "os/disk.h"

namespace cairn::host::codex_cli {

// What the user must do, in Codex's words; empty when every hook of ours in `settings`, the content of
// `hooks_file`, is approved. Cairn never writes an approval: it is the user's.
std::string missing_consent(os::Disk& disk, const std::string& hooks_file, const Json& settings);

// The hash of a hook as Codex computes it: "sha256:...".
std::string trust_hash(std::string_view event, const Json& group, const Json& hook);

}  // namespace cairn::host::codex_cli
