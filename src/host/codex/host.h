// OpenAI Codex CLI. Its hooks have Claude Code's shape; they run only after the user has approved them, in
// the TUI inside a daemon that all terminals share.
#pragma once

#include "host/host.h"

namespace cairn::host {

const Host& codex();

}  // namespace cairn::host
