// Google Gemini CLI: its own names of events, and no ids of tool calls.
#pragma once

#include "host/host.h"

namespace cairn::host {

const Host& gemini();

}  // namespace cairn::host
