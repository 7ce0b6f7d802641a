#include "event/event.h"

namespace cairn::event {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::session_start: return "session_start";
    case Kind::prompt: return "prompt";
    case Kind::tool_start: return "tool_start";
    case Kind::tool: return "tool";
    case Kind::tool_failure: return "tool_failure";
    case Kind::stop: return "stop";
    case Kind::stop_failure: return "stop_failure";
    case Kind::session_end: return "session_end";
    case Kind::subagent_start: return "subagent_start";
    case Kind::subagent_stop: return "subagent_stop";
    case Kind::compact_start: return "compact_start";
    case Kind::compact_end: return "compact_end";
    case Kind::other: return "other";
  }
  return "other";
}

}  // namespace cairn::event
