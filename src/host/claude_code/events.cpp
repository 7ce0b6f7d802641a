#include "host/claude_code/events.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "host/cursor/host.h"
#include "host/shaped.h"

namespace cairn::host::claude {

using event::Event;
using event::Kind;

static constexpr std::array<std::pair<std::string_view, Kind>, 12> kKinds = {{
    {"SessionStart", Kind::session_start},
    {"UserPromptSubmit", Kind::prompt},
    {"PreToolUse", Kind::tool_start},
    {"PostToolUse", Kind::tool},
    {"PostToolUseFailure", Kind::tool_failure},
    {"Stop", Kind::stop},
    {"StopFailure", Kind::stop_failure},
    {"SessionEnd", Kind::session_end},
    {"SubagentStart", Kind::subagent_start},
    {"SubagentStop", Kind::subagent_stop},
    {"PreCompact", Kind::compact_start},
    {"PostCompact", Kind::compact_end},
}};

Kind kind_of(std::string_view event_name) {
  return kind_in(kKinds, event_name);
}

std::string_view name_of(Kind kind) {
  return name_in(kKinds, kind);
}

// The host sends these as prompts. They are recognised by their fixed beginnings: nothing else marks them.
bool is_notification(std::string_view prompt) {
  for (const std::string_view start :
       {"<task-notification>", "<teammate-message", "<agent-notification",
        "Stop hook feedback:", "This session is being continued from a previous conversation"})
    if (prompt.starts_with(start)) return true;
  return false;
}

// Removes the text that the host adds when a plan is started with a new context.
static std::string without_hint(std::string prompt) {
  const std::size_t at = prompt.find("\n\nIf you need specific details from before exiting plan mode");
  if (at != std::string::npos) prompt.resize(at);
  return prompt;
}

Result<Event> read_event(const EventId& id, const hook::Envelope& envelope, std::string_view payload) {
  Shaped shaped = TRY(read_shaped(kKinds, id, envelope, payload));
  // Cursor runs the hooks of this host's settings file too, with our command line for this host.
  if (is_cursors(shaped.payload)) return cursor_event(std::move(shaped));
  Event e = std::move(shaped.event);
  e.prompt = without_hint(std::move(e.prompt));
  e.synthetic_prompt = e.kind == Kind::prompt && is_notification(trim(e.prompt));
  return e;
}

Json write_event(const Event& event) {
  return write_shaped(event);
}

}  // namespace cairn::host::claude
